/** Which resources a control plane serves. */
import { configMaps } from './config-maps.ts'
import { namespaces } from './namespaces.ts'
import type { Resource } from './resource.ts'

export const builtInResources: readonly Resource[] = [configMaps, namespaces]

export class Registry {
  readonly #resources = new Map<string, Resource>()

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.#resources.set(idOf(resource), resource)
  }

  find(id: { readonly group: string; readonly version: string; readonly plural: string }): Resource | undefined {
    return this.#resources.get(idOf(id))
  }

  /** Sorted by name, as discovery shows them. */
  inGroupVersion(group: string, version: string): readonly Resource[] {
    return this.all().filter((resource) => resource.group === group && resource.version === version)
  }

  all(): readonly Resource[] {
    return [...this.#resources.values()].toSorted((a, b) => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0))
  }
}

const idOf = (id: { readonly group: string; readonly version: string; readonly plural: string }): string =>
  `${id.group}/${id.version}/${id.plural}`
