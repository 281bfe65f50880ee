/** Which resources a control plane serves. */
import type { Resource } from './resource.ts'

type Id = { readonly group: string; readonly version: string; readonly plural: string }

export class Registry {
  readonly #resources = new Map<string, Resource>()
  /** What each group has, sorted by name. */
  readonly #groups = new Map<string, readonly Resource[]>()
  #sorted: readonly Resource[] | undefined

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.#resources.set(idOf(resource), resource)
    for (const resource of this.all()) {
      this.#groups.set(resource.group, [...(this.#groups.get(resource.group) ?? []), resource])
    }
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
}

const none: readonly Resource[] = []

const byName = (a: Resource, b: Resource): number => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0)

const idOf = ({ group, version, plural }: Id): string => `${group}/${version}/${plural}`
