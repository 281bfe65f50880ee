/**
 * The kinds of remote servers, according to the last successful discovery of each version. If the
 * server of a version is unreachable, its kinds are kept.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import type { RemoteApis, RemoteResource, RemoteVersion } from './remote-content.ts'
import { RemoteCalls, RemoteObjects, type RemoteObjectsOptions } from './remote-objects.ts'

/** Maximum number of resources that are watched. Each requires a watch and a connection. */
const FOLLOWED_MAX = 500

/**
 * One version of a resource. Each version is treated as a separate resource, because another server
 * may serve it with different objects.
 */
export type RemoteKind = {
  readonly objects: RemoteObjects
  /**
   * Whether the objects of this version are listed and watched. If false, single objects are
   * requested when they are needed.
   */
  readonly isFollowed: boolean
}

export type RemoteKindsOptions = Omit<RemoteObjectsOptions, 'calls'> & {
  readonly apis: RemoteApis
  /** The verbs that a resource must support. Otherwise it is not watched. */
  readonly verbs: readonly string[]
}

export type KnownKinds = {
  readonly kinds: readonly RemoteKind[]
  /**
   * All versions of remote servers, as `group/version`, including unreachable ones. This server
   * does not serve its own objects in these versions.
   */
  readonly versions: ReadonlySet<string>
}

export class RemoteKinds {
  readonly #options: RemoteKindsOptions
  readonly #calls = new RemoteCalls()
  #last: ReadonlyMap<string, readonly RemoteResource[]> = new Map()
  #objects = new Map<string, RemoteObjects>()

  constructor(options: RemoteKindsOptions) {
    this.#options = options
  }

  /**
   * Returns the kinds that the remote servers currently have. If a resource is unchanged, its
   * `objects` are the same instance as in the previous result.
   */
  refresh(): KnownKinds {
    const { apis, verbs, log } = this.#options
    const versions = apis.versions()
    this.#last = lastKnown(versions, this.#last)
    const before = this.#objects
    this.#objects = new Map()
    const kinds: RemoteKind[] = []
    /**
     * Resources for which a version to watch has been chosen. Preferred versions come first in this
     * loop, so they are chosen if possible.
     */
    const followed = new Set<string>()
    for (const resource of versions.flatMap(
      ({ group, version }) => this.#last.get(`${group}/${version}`) ?? [],
    )) {
      const { group, version, plural } = resource
      const id = `${plural}.${group}`
      const canFollow = has(resource, verbs) && !followed.has(id)
      if (!canFollow && !has(resource, ['get'])) continue
      if (canFollow) followed.add(id)
      const known = before.get(`${version}/${id}`)
      const isKnown = known !== undefined && isSame(known.resource, resource)
      const objects = isKnown
        ? known
        : new RemoteObjects(resource, { ...this.#options, calls: this.#calls })
      this.#objects.set(`${version}/${id}`, objects)
      kinds.push({ objects, isFollowed: canFollow && followed.size <= FOLLOWED_MAX })
    }
    if (followed.size > FOLLOWED_MAX) reportLimit(log, followed.size)
    return { kinds, versions: new Set(versions.map(({ group, version }) => `${group}/${version}`)) }
  }
}

const has = ({ verbs }: RemoteResource, wanted: readonly string[]): boolean =>
  // Bounded: `wanted` has three verbs, so `verbs` is searched only three times
  wanted.every((verb) => verbs.includes(verb))

/**
 * Returns the resources of each version by `group/version`. If the server of a version is
 * unreachable, its previous resources are kept.
 */
function lastKnown(
  versions: readonly RemoteVersion[],
  before: ReadonlyMap<string, readonly RemoteResource[]>,
): Map<string, readonly RemoteResource[]> {
  const known = new Map<string, readonly RemoteResource[]>()
  for (const { group, version, resources } of versions) {
    const id = `${group}/${version}`
    const last = resources ?? before.get(id)
    if (last !== undefined) known.set(id, last)
  }
  return known
}

const isSame = (one: RemoteResource, other: RemoteResource): boolean =>
  one.kind === other.kind && one.isNamespaced === other.isNamespaced

const reportLimit = (log: Log, count: number): void =>
  log('warn', 'aggregated API servers have too many resources; some of them are not watched', {
    count,
    limit: FOLLOWED_MAX,
  })
