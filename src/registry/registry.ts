/** Which resources a control plane serves. Those of clients come and go while it runs; a change costs what its group costs. */
import type { Resource } from './resource.ts'

type Id = { readonly group: string; readonly version: string; readonly plural: string }

export class Registry {
  readonly #resources = new Map<string, Resource>()
  /** What each group has, sorted by name. */
  readonly #groups = new Map<string, readonly Resource[]>()
  readonly #builtInGroups: ReadonlySet<string>
  #sorted: readonly Resource[] | undefined
  #changes = 0

  /** Those that are built in. */
  constructor(resources: readonly Resource[]) {
    this.#builtInGroups = new Set(resources.map(({ group }) => group))
    for (const resource of resources) this.#resources.set(idOf(resource), resource)
    for (const resource of this.all()) {
      this.#groups.set(resource.group, [...(this.#groups.get(resource.group) ?? []), resource])
    }
  }

  /** How often it has changed: what was made of all of it holds while this stays. */
  get changes(): number {
    return this.#changes
  }

  get groups(): readonly string[] {
    return [...this.#groups.keys()]
  }

  /** Sorted by name. The same list until the group changes: what was made of it may be kept beside it. */
  inGroup(group: string): readonly Resource[] {
    return this.#groups.get(group) ?? none
  }

  find(id: Id): Resource | undefined {
    return this.#resources.get(idOf(id))
  }

  /** Sorted by name, as discovery shows them. */
  inGroupVersion(group: string, version: string): readonly Resource[] {
    return this.inGroup(group).filter((resource) => resource.version === version)
  }

  /** Sorted by name. */
  all(): readonly Resource[] {
    return (this.#sorted ??= [...this.#resources.values()].toSorted(byName))
  }

  /**
   * Serves these in place of those, which are of the same group. A definition may name a group that is built in; as upstream, where the
   * built-in API answers every path of its groups, nothing of it is served then, in no version.
   */
  replace(
    group: string,
    { before, after }: { readonly before: readonly Resource[]; readonly after: readonly Resource[] },
  ): void {
    if (this.#builtInGroups.has(group)) return
    const gone = new Set(before)
    for (const resource of before) this.#resources.delete(idOf(resource))
    for (const resource of after) this.#resources.set(idOf(resource), resource)
    const kept = this.inGroup(group).filter((resource) => !gone.has(resource))
    const next = merged(kept, after.toSorted(byName))
    if (next.length === 0) this.#groups.delete(group)
    else this.#groups.set(group, next)
    this.#sorted = undefined
    this.#changes++
  }
}

const none: readonly Resource[] = []

/** Two sorted lists as one. */
function merged(one: readonly Resource[], other: readonly Resource[]): readonly Resource[] {
  const result: Resource[] = []
  let at = 0
  for (const resource of one) {
    for (let next = other[at]; next !== undefined && byName(next, resource) < 0; next = other[++at]) result.push(next)
    result.push(resource)
  }
  return [...result, ...other.slice(at)]
}

const byName = (a: Resource, b: Resource): number => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0)

const idOf = ({ group, version, plural }: Id): string => `${group}/${version}/${plural}`
