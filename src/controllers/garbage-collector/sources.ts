/**
 * Finds the source of an object: the watched resource, by the kind in a reference or by the key of
 * an object.
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
 * The source and key of an owner, or why it has none: 'scope' means that the owner is namespaced
 * although the object is cluster-scoped, and 'kind' means that the kind of the owner is not served.
 */
export type ResolvedOwner = { readonly source: Source; readonly key: Key } | 'scope' | 'kind'

export type SourcesOptions = {
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /** The kinds of remote servers. */
  readonly remote: KnownKinds
  /** The previous sources. Unchanged sources of remote resources are reused. */
  readonly before?: Sources
}

/**
 * All sources of the registry and the remote servers. Created again when the registry or the remote
 * servers change.
 */
export class Sources {
  readonly #byPrefix = new Map<Key, Source>()
  /** Sources that are not watched. Their objects are requested one by one. */
  readonly #unfollowed = new Map<Key, Source>()
  readonly #byKind = new Map<string, Source>()

  constructor({ registry, accessOf, remote, before }: SourcesOptions) {
    const byId = new Map<string, Source>()
    for (const resource of servedResources(registry, ['delete', 'list', 'watch'])) {
      // As in kube-controller-manager, objects of the kind Event are ignored, because they are
      // numerous and own no objects.
      if (
        resource.plural === 'events' &&
        (resource.group === '' || resource.group === 'events.k8s.io')
      )
        continue
      // If a remote server serves this group version, requests are sent to that server, so the
      // objects of this server are not watched.
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
      // If this server also serves the resource, possibly in another version, the remote server may
      // have the same objects. Do not watch them twice.
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

  /** Returns the sources that are watched. */
  all(): ReadonlyMap<Key, Source> {
    return this.#byPrefix
  }

  /**
   * Returns the source of an object, or undefined if the resource of the object is no longer
   * served.
   */
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

  /** Returns the source and key of an owner to which the object at `key` refers. */
  resolveOwner({ apiVersion, kind, name }: OwnerReference, key: Key): ResolvedOwner {
    const source = this.#byKind.get(`${apiVersion} ${kind}`)
    const place = this.nameOf(key)
    // An owner with an invalid name is not looked up, so that no object is deleted because of it.
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
