/**
 * The parts of a server that controllers need, on any engine. They are readers of the cache, and a
 * handler that deletes and patches objects. The handler takes finalizers, owners and preconditions
 * into account. Objects are stored as JSON without conversion, admission or validation.
 */
import { parseJson } from '../../../src/api/json-value.ts'
import { type Fields, fieldsOf, type KubeObject, textOf, textsOf } from '../../../src/api/object.ts'
import type { Handler } from '../../../src/api/request.ts'
import type { ApiResponse } from '../../../src/api/request.ts'
import type { Cache } from '../../../src/storage/cache/cache.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import type { CacheAccessOf } from '../../../src/controllers/cache-access.ts'
import type { Registry } from '../../../src/registry/registry.ts'
import { type Parent, withParents } from '../../../src/request/parents.ts'
import type { Resource } from '../../../src/registry/resource.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { ResourceKeys, resourcePrefix } from '../../../src/storage/keys.ts'
import type { Store } from '../../../src/storage/store.ts'
import { changeJson, jsonForm, writeJson } from '../../chaos/simulation/virtual/json-objects.ts'

export const root = '/registry/'

export type JsonControlPlaneOptions = {
  readonly cache: Cache
  readonly store: Store
  readonly registry: Registry
  readonly now: () => string
}

/**
 * Decides about a write of the current object. The returned value is the new object, or states that
 * the object is deleted or stays unchanged. A number is the status code with which the write is
 * rejected.
 */
type Decide = (object: KubeObject) => KubeObject | 'delete' | 'unchanged' | number

export class JsonControlPlane {
  readonly #options: JsonControlPlaneOptions
  readonly #readers = new Map<string, Reader>()

  constructor(options: JsonControlPlaneOptions) {
    this.#options = options
  }

  readonly accessOf = (
    resource: Resource,
  ): ReturnType<CacheAccessOf> & { readonly reader: Reader } => {
    const keys = new ResourceKeys(root, resourcePrefix(resource), resource.isNamespaced)
    const reader =
      this.#readers.get(keys.prefix) ??
      this.#options.cache.resource({ ...jsonForm, name: resource.plural, prefix: keys.prefix })
    this.#readers.set(keys.prefix, reader)
    return { keys, reader }
  }

  /**
   * Creates an object, unless `parents` does not allow this (see request/parents.ts). If the create
   * fails, rejects with a StorageError.
   */
  async create(
    resource: Resource,
    object: KubeObject,
    parents: readonly Parent[] = [],
  ): Promise<void> {
    const { namespace, name = '' } = object.metadata
    const key = this.accessOf(resource).keys.key(namespace, name)
    await withParents(this.#options.store, () => parents).create(key, writeJson(object))
  }

  /** Deletes an object even if it has finalizers. */
  async remove(resource: Resource, namespace: string | undefined, name: string): Promise<void> {
    const { keys, reader } = this.accessOf(resource)
    await changeJson(
      { store: this.#options.store, reader },
      keys.key(namespace, name),
      () => 'delete',
    )
  }

  readonly handle: Handler = async ({ method, path, body }) => {
    const place = this.#placeIn(path)
    const bytes = await body()
    const sent = bytes.length === 0 ? {} : fieldsOf(parseJson(bytes))
    // The only objects that controllers create are Events. Accept them without storing them.
    if (method === 'POST') return answer(201)
    if (place === undefined) return answer(404)
    if (method === 'GET') return this.#get(place)
    if (method === 'DELETE') return this.#change(place, (object) => this.#deleted(object, sent))
    if (method === 'PATCH')
      return this.#change(place, (object) => patched(object, fieldsOf(sent['metadata'])))
    return this.#change(place, (object) => put(object, sent))
  }

  #placeIn(path: string): { readonly resource: Resource; readonly key: string } | undefined {
    const parts = path.split('/').slice(1)
    const group = parts[0] === 'api' ? '' : (parts[1] ?? '')
    const rest = parts.slice(group === '' ? 1 : 2)
    const isNamespaced = rest[1] === 'namespaces' && rest.length > 4
    const [plural = '', name = ''] = rest.slice(isNamespaced ? 3 : 1)
    const resource = this.#options.registry.find({ group, version: rest[0] ?? '', plural })
    const namespace = isNamespaced ? rest[2] : undefined
    return resource && { resource, key: this.accessOf(resource).keys.key(namespace, name) }
  }

  async #get({
    resource,
    key,
  }: {
    readonly resource: Resource
    readonly key: string
  }): Promise<ApiResponse> {
    const object = (await this.accessOf(resource).reader.get(key, 'latest')).item?.object()
    return object === undefined
      ? answer(404)
      : { ...answer(200), body: Buffer.from(JSON.stringify(object)) }
  }

  async #change(
    { resource, key }: { readonly resource: Resource; readonly key: string },
    decide: Decide,
  ): Promise<ApiResponse> {
    const { reader } = this.accessOf(resource)
    let refused: number | undefined
    try {
      const version = await changeJson({ store: this.#options.store, reader }, key, (object) => {
        const decided = decide(object)
        refused = typeof decided === 'number' ? decided : undefined
        return typeof decided === 'number' || decided === 'unchanged' ? undefined : decided
      })
      return answer(refused ?? (version === undefined ? 404 : 200))
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      return answer(error.code === 'conflict' ? 409 : 500)
    }
  }

  #deleted(object: KubeObject, options: Fields): ReturnType<Decide> {
    const { metadata } = object
    if (!isExpected(object, fieldsOf(options['preconditions']))) return 409
    const added = finalizersOf(textOf(options['propagationPolicy']))
    const others = (metadata.finalizers ?? []).filter(
      (one) => one !== 'orphan' && one !== 'foregroundDeletion',
    )
    const finalizers = [...others, ...added]
    if (finalizers.length === 0) return 'delete'
    const isSame =
      metadata.deletionTimestamp !== undefined &&
      finalizers.join(' ') === (metadata.finalizers ?? []).join(' ')
    if (isSame) return 'unchanged'
    const deletionTimestamp = metadata.deletionTimestamp ?? this.#options.now()
    return { ...object, metadata: { ...metadata, finalizers, deletionTimestamp } }
  }
}

const finalizersOf = (policy: string): string[] =>
  policy === 'Orphan' ? ['orphan'] : policy === 'Foreground' ? ['foregroundDeletion'] : []

const isExpected = ({ metadata }: KubeObject, { uid, resourceVersion }: Fields): boolean =>
  (uid === undefined || uid === metadata.uid) &&
  (resourceVersion === undefined || resourceVersion === metadata.resourceVersion)

function patched(
  object: KubeObject,
  { uid, resourceVersion, ...change }: Fields,
): ReturnType<Decide> {
  if (!isExpected(object, { uid, resourceVersion })) return 409
  const labels = { ...object.metadata.labels, ...fieldsOf(change['labels']) }
  const merged = Object.fromEntries(
    Object.entries({ ...object.metadata, ...change, labels }).filter(([, value]) => value !== null),
  )
  return released({ ...object, metadata: merged })
}

function put(object: KubeObject, sent: Fields): ReturnType<Decide> {
  const { resourceVersion } = fieldsOf(sent['metadata'])
  if (!isExpected(object, { resourceVersion })) return 409
  return released({
    ...object,
    ...sent,
    metadata: { ...object.metadata, ...fieldsOf(sent['metadata']) },
  })
}

/**
 * Removes an object that is being deleted and has no finalizers left. The finalizers in the spec of
 * a namespace also count.
 */
function released(object: KubeObject): KubeObject | 'delete' {
  const { deletionTimestamp, finalizers = [] } = object.metadata
  const kept = [...finalizers, ...textsOf(fieldsOf(object['spec'])['finalizers'])]
  return deletionTimestamp !== undefined && kept.length === 0 ? 'delete' : object
}

const answer = (status: number): ApiResponse => ({ status, headers: {}, body: Buffer.from('{}') })
