/**
 * Where objects are: the resources that the collector follows, by the kinds of references and by
 * the keys of objects.
 */
import type { Registry } from '../../registry/registry.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { OwnerReference } from '../object-head.ts'
import type { CacheAccessOf } from '../cache-access.ts'
import type { KnownKinds } from '../remote/remote-kinds.ts'
import { servedResources } from '../served-resources.ts'
import type { Key } from './graph.ts'
import { LocalSource } from './local-source.ts'
import { RemoteSource } from './remote-source.ts'
import type { Source } from './source.ts'

export type ObjectName = { readonly namespace: string | undefined; readonly name: string }

/**
 * 'scope': the object is cluster-scoped and the owner is not, which nothing can mend. 'kind': the
 * kind is not served.
 */
export type ResolvedOwner = { readonly source: Source; readonly key: Key } | 'scope' | 'kind'

export type SourcesOptions = {
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /** Those of remote servers. */
  readonly remote: KnownKinds
  /** The sources before: that of a remote resource goes on. */
  readonly before?: Sources
}

/** As the registry and the remote servers are now: it is made anew when that changes. */
export class Sources {
  readonly #byPrefix = new Map<Key, Source>()
  /** Those whose objects are only asked for one by one. */
  readonly #unfollowed = new Map<Key, Source>()
  readonly #byKind = new Map<string, Source>()

  constructor({ registry, accessOf, remote, before }: SourcesOptions) {
    const byId = new Map<string, Source>()
    for (const resource of servedResources(registry, ['delete', 'list', 'watch'])) {
      // As upstream: events own nothing and are many.
      if (
        resource.plural === 'events' &&
        (resource.group === '' || resource.group === 'events.k8s.io')
      )
        continue
      // Whoever asks for them, or deletes them, is led to the remote server, which has others.
      if (remote.versions.has(apiVersionOf(resource))) continue
      const source = new LocalSource(resource, accessOf(resource))
      byId.set(idOf(resource), source)
      this.#byPrefix.set(source.keys.prefix, source)
    }
    for (const { objects, isFollowed } of remote.kinds) {
      const { prefix } = objects.keys
      const { group, version, kind } = objects.resource
      const known = before?.all().get(prefix)
      const source = known?.identity === objects ? known : new RemoteSource(objects)
      // The objects of two versions of which this server has one may be the same.
      const isHere = byId.has(idOf(objects.resource))
      const all = isFollowed && !isHere ? this.#byPrefix : this.#unfollowed
      all.set(prefix, source)
      this.#byKind.set(`${group}/${version} ${kind}`, source)
    }
    for (const resource of registry.all()) {
      const source = byId.get(idOf(resource))
      if (source !== undefined && !remote.versions.has(apiVersionOf(resource)))
        this.#byKind.set(`${apiVersionOf(resource)} ${resource.kind}`, source)
    }
  }

  /** Those that are followed. */
  all(): ReadonlyMap<Key, Source> {
    return this.#byPrefix
  }

  /** The resource of an object; undefined if it is no longer served. */
  at(key: Key): Source | undefined {
    const name = key.lastIndexOf('/')
    const namespace = key.lastIndexOf('/', name - 1)
    const namespaced = this.#byPrefix.get(key.slice(0, namespace + 1))
    if (namespaced?.keys.isNamespaced === true) return namespaced
    const source = this.#byPrefix.get(key.slice(0, name + 1))
    return source?.keys.isNamespaced === false ? source : undefined
  }

  nameOf(key: Key): ObjectName | undefined {
    return this.at(key)?.keys.parse(key)
  }

  /** Where the owner is that the object at `key` names. */
  resolveOwner({ apiVersion, kind, name }: OwnerReference, key: Key): ResolvedOwner {
    const source = this.#byKind.get(`${apiVersion} ${kind}`)
    const place = this.nameOf(key)
    // A name that cannot be one is not looked for: nothing is deleted because of it.
    if (source === undefined || place === undefined || name === '' || /^\.\.?$|\//.test(name))
      return 'kind'
    const { keys } = source
    if (!keys.isNamespaced) return { source, key: keys.key(undefined, name) }
    return place.namespace === undefined
      ? 'scope'
      : { source, key: keys.key(place.namespace, name) }
  }
}

const idOf = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): string => `${plural}.${group}`
