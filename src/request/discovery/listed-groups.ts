/**
 * The groups and versions that discovery lists, sorted by priority. Some are served by this server,
 * and others are defined by APIServices. The APIService of a version determines its priorities. If
 * the APIService does not exist yet, the version is listed as if this server had already created
 * the APIService.
 */
import { compareVersions, groupPriority, versionPriority } from '../../registry/priorities.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ListedApiService, RemoteServers } from './remote/remote-servers.ts'

export type ListedGroup = {
  readonly name: string
  /** The versions, beginning with the preferred one. */
  readonly versions: readonly string[]
}

type PrioritizedVersion = Pick<
  ListedApiService,
  'name' | 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'
>

/** The priority of all versions in groups that CustomResourceDefinitions add. */
export const CUSTOM_VERSION_PRIORITY = 100
/** The group that always comes first in discovery, so that its names take precedence. */
const firstGroup = 'apiregistration.k8s.io'

export class ListedGroups {
  readonly #registry: Registry
  readonly #servers: RemoteServers
  #made:
    | {
        readonly marks: readonly [number, number]
        readonly groups: ReadonlyMap<string, ListedGroup>
      }
    | undefined

  constructor(registry: Registry, servers: RemoteServers) {
    this.#registry = registry
    this.#servers = servers
  }

  /** All groups in order, without the core group. */
  get all(): Iterable<ListedGroup> {
    return this.#groups().values()
  }

  find(name: string): ListedGroup | undefined {
    return this.#groups().get(name)
  }

  #groups(): ReadonlyMap<string, ListedGroup> {
    const marks = [this.#registry.changes, this.#servers.changes()] as const
    if (
      this.#made !== undefined &&
      this.#made.marks[0] === marks[0] &&
      this.#made.marks[1] === marks[1]
    )
      return this.#made.groups
    const groups = new Map(grouped(this.#places()).map((group) => [group.name, group]))
    this.#made = { marks, groups }
    return groups
  }

  #places(): PrioritizedVersion[] {
    const places = new Map<string, PrioritizedVersion>()
    for (const group of this.#registry.groups) {
      if (group === '') continue
      for (const { version, isCustom } of this.#registry.inGroup(group)) {
        const name = `${version}.${group}`
        if (!places.has(name)) places.set(name, ownPlace({ name, group, version, isCustom }))
      }
    }
    for (const service of this.#servers.list()) {
      const { name, group, remote, isManaged } = service
      if (group === '' || group === firstGroup) continue
      // Skip an APIService that this server created for a version that it no longer serves. The
      // server is about to delete it.
      if (remote === undefined && isManaged && !places.has(name)) continue
      places.set(name, service)
    }
    return [...places.values()]
  }
}

function ownPlace({
  name,
  group,
  version,
  isCustom,
}: { readonly [key in 'name' | 'group' | 'version']: string } & {
  readonly isCustom: boolean
}): PrioritizedVersion {
  return {
    name,
    group,
    version,
    groupPriorityMinimum: group === firstGroup ? Infinity : groupPriority(group),
    versionPriority: isCustom ? CUSTOM_VERSION_PRIORITY : versionPriority(group, version),
  }
}

/**
 * Groups the versions. The groups are sorted by their first version: by its priority, and then by
 * the name of its APIService.
 */
function grouped(places: readonly PrioritizedVersion[]): ListedGroup[] {
  const groups = new Map<string, PrioritizedVersion[]>()
  for (const place of places.toSorted(byGroupPriority)) {
    const known = groups.get(place.group)
    if (known === undefined) groups.set(place.group, [place])
    else known.push(place)
  }
  return [...groups].map(([name, all]) => ({
    name,
    versions: all.toSorted(byVersionPriority).map((one) => one.version),
  }))
}

const byGroupPriority = (a: PrioritizedVersion, b: PrioritizedVersion): number =>
  a.groupPriorityMinimum === b.groupPriorityMinimum
    ? a.name < b.name
      ? -1
      : 1
    : b.groupPriorityMinimum - a.groupPriorityMinimum

export const byVersionPriority = (
  a: Pick<PrioritizedVersion, 'version' | 'versionPriority'>,
  b: Pick<PrioritizedVersion, 'version' | 'versionPriority'>,
): number => b.versionPriority - a.versionPriority || compareVersions(a.version, b.version)
