/**
 * The resources that a control plane serves. Custom resources come and go while it runs; the cost of a change is proportional to its group.
 */
import type { Resource } from './resource.ts'

type Id = { readonly group: string; readonly version: string; readonly plural: string }

export class Registry {
  readonly #resources = new Map<string, Resource>()
  /** The resources of each group, sorted by name. */
  readonly #groups = new Map<string, readonly Resource[]>()
  readonly #builtInGroups: ReadonlySet<string>
  #sorted: readonly Resource[] | undefined
  #changes = 0

  /** `resources`: the built-in ones. */
  constructor(resources: readonly Resource[]) {
    this.#builtInGroups = new Set(resources.map(({ group }) => group))
    for (const resource of resources) this.#resources.set(idOf(resource), resource)
    for (const resource of this.all()) {
      this.#groups.set(resource.group, [...(this.#groups.get(resource.group) ?? []), resource])
    }
  }

  /** The number of changes: anything derived from the whole registry is valid as long as it stays the same. */
  get changes(): number {
    return this.#changes
  }

  get groups(): readonly string[] {
    return [...this.#groups.keys()]
  }

  /** Sorted by name. The same array until the group changes, so that derived values can be cached by its identity. */
  inGroup(group: string): readonly Resource[] {
    return this.#groups.get(group) ?? none
  }

  find(id: Id): Resource | undefined {
    return this.#resources.get(idOf(id))
  }

  /** Sorted by name, as discovery lists them. */
  inGroupVersion(group: string, version: string): readonly Resource[] {
    return this.inGroup(group).filter((resource) => resource.version === version)
  }

  /** Sorted by name. */
  all(): readonly Resource[] {
    return (this.#sorted ??= [...this.#resources.values()].toSorted(byName))
  }

  /**
   * Replaces resources of one group. A CRD may name a built-in group; as upstream, where the built-in API serves all paths of its groups,
   * none of its versions is served then.
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

/** Merges two sorted lists. */
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
