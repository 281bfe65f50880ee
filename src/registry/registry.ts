/** Which resources a control plane serves. */
import type { Resource } from './resource.ts'

type Id = { readonly group: string; readonly version: string; readonly plural: string }

export class Registry {
  readonly #resources = new Map<string, Resource>()
  #sorted: readonly Resource[] | undefined

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.#resources.set(idOf(resource), resource)
  }

  find(id: Id): Resource | undefined {
    return this.#resources.get(idOf(id))
  }

  /** Sorted by name, as discovery shows them. */
  inGroupVersion(group: string, version: string): readonly Resource[] {
    return this.all().filter((resource) => resource.group === group && resource.version === version)
  }

  /** Sorted by name. */
  all(): readonly Resource[] {
    return (this.#sorted ??= [...this.#resources.values()].toSorted(byName))
  }
}

const byName = (a: Resource, b: Resource): number => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0)

const idOf = ({ group, version, plural }: Id): string => `${group}/${version}/${plural}`
