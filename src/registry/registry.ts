/**
 * The resources that a control plane serves. Custom resources can be added and removed at any time.
 * The cost of a change is proportional to the number of resources in the group.
 */
import { defaultMinor } from '../api/releases.ts'
import type { Resource } from './resource.ts'

type Id = { readonly group: string; readonly version: string; readonly plural: string }

export class Registry {
  /** The minor version of the Kubernetes release that the control plane serves. */
  readonly release: number
  readonly #resources = new Map<string, Resource>()
  /**
   * Versions of each resource, keyed by group and then by plural. Every request looks up a
   * resource, and two lookups are faster than building a joined key.
   */
  readonly #versions = new Map<string, Map<string, readonly Resource[]>>()
  /** Resources of each group, sorted by name. */
  readonly #groups = new Map<string, readonly Resource[]>()
  readonly #builtInGroups: ReadonlySet<string>
  #sorted: readonly Resource[] | undefined
  #changes = 0
  readonly #listeners = new Set<() => void>()

  /** Creates a registry with the built-in resources of a release. */
  constructor(resources: readonly Resource[], release = defaultMinor) {
    this.release = release
    this.#builtInGroups = new Set(resources.map(({ group }) => group))
    for (const resource of resources) this.#add(resource)
    for (const resource of this.all()) {
      this.#groups.set(resource.group, [...(this.#groups.get(resource.group) ?? []), resource])
    }
  }

  /**
   * Number of changes so far. Values that are derived from the whole registry stay valid until this
   * number changes.
   */
  get changes(): number {
    return this.#changes
  }

  /** Calls the listener after each change, until the returned object is disposed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  get groups(): readonly string[] {
    return [...this.#groups.keys()]
  }

  /**
   * Returns the resources of a group, sorted by name. The same array is returned until the group
   * changes, so that it can be the key of a cache.
   */
  inGroup(group: string): readonly Resource[] {
    return this.#groups.get(group) ?? none
  }

  find({ group, version, plural }: Id): Resource | undefined {
    const versions = this.#versions.get(group)?.get(plural)
    if (versions === undefined) return undefined
    for (const resource of versions) if (resource.version === version) return resource
    return undefined
  }

  /** Returns the resources of a version, sorted by name as in discovery. */
  inGroupVersion(group: string, version: string): readonly Resource[] {
    return this.inGroup(group).filter((resource) => resource.version === version)
  }

  /** Returns all resources, sorted by name. */
  all(): readonly Resource[] {
    return (this.#sorted ??= [...this.#resources.values()].toSorted(byName))
  }

  /**
   * Replaces resources of a group. A CRD can name a built-in group, but its versions are then not
   * served. As in kube-apiserver, the built-in API serves all paths of its groups.
   */
  replace(
    group: string,
    {
      before,
      after,
    }: { readonly before: readonly Resource[]; readonly after: readonly Resource[] },
  ): void {
    if (this.#builtInGroups.has(group)) return
    const gone = new Set(before)
    for (const resource of before) this.#remove(resource)
    for (const resource of after) this.#add(resource)
    const kept = this.inGroup(group).filter((resource) => !gone.has(resource))
    const next = merged(kept, after.toSorted(byName))
    if (next.length === 0) this.#groups.delete(group)
    else this.#groups.set(group, next)
    this.#sorted = undefined
    this.#changes++
    for (const listener of this.#listeners) listener()
  }

  /** Adds a resource, or replaces the resource with the same ID. */
  #add(resource: Resource): void {
    this.#resources.set(idOf(resource), resource)
    this.#setVersions(resource, [...this.#otherVersions(resource), resource])
  }

  #remove(resource: Resource): void {
    this.#resources.delete(idOf(resource))
    this.#setVersions(resource, this.#otherVersions(resource))
  }

  #otherVersions({ group, version, plural }: Id): readonly Resource[] {
    return (this.#versions.get(group)?.get(plural) ?? none).filter((one) => one.version !== version)
  }

  #setVersions({ group, plural }: Id, versions: readonly Resource[]): void {
    const ofGroup = this.#versions.get(group) ?? new Map<string, readonly Resource[]>()
    if (versions.length === 0) ofGroup.delete(plural)
    else ofGroup.set(plural, versions)
    if (ofGroup.size === 0) this.#versions.delete(group)
    else this.#versions.set(group, ofGroup)
  }
}

const none: readonly Resource[] = []

/** Merges two sorted lists. */
function merged(one: readonly Resource[], other: readonly Resource[]): readonly Resource[] {
  const result: Resource[] = []
  let at = 0
  for (const resource of one) {
    for (let next = other[at]; next !== undefined && byName(next, resource) < 0; next = other[++at])
      result.push(next)
    result.push(resource)
  }
  return [...result, ...other.slice(at)]
}

const byName = (a: Resource, b: Resource): number =>
  a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0

const idOf = ({ group, version, plural }: Id): string => `${group}/${version}/${plural}`
