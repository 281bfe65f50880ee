/** Which kinds remote servers have: what discovery said last of each version. A version whose server cannot be asked keeps its kinds. */
import type { Log } from '../../lib/log.ts'
import type { RemoteApis, RemoteResource, RemoteVersion } from './remote-content.ts'
import { RemoteObjects, type RemoteObjectsParts } from './remote-objects.ts'

/** Each that is followed is a watch and a connection. */
const FOLLOWED_MAX = 500

export type RemoteKind = {
  readonly objects: RemoteObjects
  /** Whether its objects can be listed and watched; otherwise one can be asked for at the most. */
  readonly isFollowed: boolean
  /** By which owner references name it: `apiVersion kind`, in each version that has it. */
  readonly kinds: readonly string[]
}

export type RemoteKindsParts = RemoteObjectsParts & {
  readonly apis: RemoteApis
  /** Verbs that a resource needs for being followed. */
  readonly verbs: readonly string[]
}

export class RemoteKinds {
  readonly #parts: RemoteKindsParts
  #last: ReadonlyMap<string, readonly RemoteResource[]> = new Map()
  #kinds = new Map<string, RemoteKind>()

  constructor(parts: RemoteKindsParts) {
    this.#parts = parts
  }

  /** As discovery is now. Of a resource that has not changed, `objects` are the same as before. */
  refresh(): readonly RemoteKind[] {
    const versions = this.#parts.apis.versions()
    this.#last = lastKnown(versions, this.#last)
    const found = new Map<string, RemoteResource[]>()
    for (const { group, version } of versions) {
      for (const resource of this.#last.get(`${group}/${version}`) ?? []) {
        const id = `${resource.plural}.${group}`
        found.set(id, [...(found.get(id) ?? []), resource])
      }
    }
    const before = this.#kinds
    this.#kinds = new Map()
    let followed = 0
    for (const [id, resources] of found) {
      const kind = this.#kindOf(resources, before.get(id))
      if (kind === undefined) continue
      const isFollowed = kind.isFollowed && ++followed <= FOLLOWED_MAX
      this.#kinds.set(id, { ...kind, isFollowed })
    }
    if (followed > FOLLOWED_MAX) tellLimit(this.#parts.log, followed)
    return [...this.#kinds.values()]
  }

  #kindOf(resources: readonly RemoteResource[], before: RemoteKind | undefined): RemoteKind | undefined {
    const { verbs } = this.#parts
    const followed = resources.find(has(verbs))
    const chosen = followed ?? resources.find(has(['get']))
    if (chosen === undefined) return undefined
    const objects =
      before !== undefined && isSame(before.objects.resource, chosen)
        ? before.objects
        : new RemoteObjects(chosen, this.#parts)
    const kinds = resources
      .filter(({ isNamespaced }) => isNamespaced === chosen.isNamespaced)
      .map(({ group, version, kind }) => `${group}/${version} ${kind}`)
    return { objects, isFollowed: followed !== undefined, kinds }
  }
}

const has = (wanted: readonly string[]) => (one: RemoteResource) => wanted.every((verb) => one.verbs.includes(verb))

/** The resources of each version, by `group/version`: of those that cannot be asked, what they had before. */
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
  one.version === other.version && one.kind === other.kind && one.isNamespaced === other.isNamespaced

const tellLimit = (log: Log, count: number): void =>
  log('warn', 'not all resources of remote servers are followed', { count, limit: FOLLOWED_MAX })
