/**
 * The groups and versions that discovery lists: those that this server has, and those of
 * APIServices, in the order of their priorities. An APIService is what counts; one that does not
 * exist yet is as this server would create it.
 */
import { compareVersions, groupPriority, versionPriority } from '../../registry/priorities.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ListedApiService, RemoteServers } from './remote/remote-servers.ts'

export type ListedGroup = {
  readonly name: string
  /** The preferred one first. */
  readonly versions: readonly string[]
}

type PrioritizedVersion = Pick<
  ListedApiService,
  'name' | 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'
>

/** Of the versions of groups that definitions add. */
export const CUSTOM_VERSION_PRIORITY = 100
/** Always the first: its names matter the most. */
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

  /** In order, without the core group. */
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
      // One that this server made for what it no longer serves is about to be deleted.
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
 * A group stands where the first of its versions does, by priority and then by the name of the
 * APIService.
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
