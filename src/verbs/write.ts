/**
 * The steps of a write, in kube-apiserver's order, for all verbs that write: system fields, prepare, validate, store. The
 * object has been decoded. An update runs all of them again when somebody else was first.
 */
import {
  ApiError,
  alreadyExists,
  conflict,
  invalid,
  modifiedMeanwhile,
  nameNotGenerated,
  notFound,
  unclassified,
} from '../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import { encodeStored, printWire } from '../codec/object.ts'
import { validateMetadata, validateMetadataUpdate } from '../registry/metadata.ts'
import type { Resource, ResourceRequest } from '../registry/resource.ts'
import type { Key, Revision } from '../storage/engine.ts'
import { StorageError } from '../storage/errors.ts'
import { toText } from '../storage/keys.ts'
import type { Current, Decision } from '../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { uintFault } from './options.ts'
import { translated } from './storage-errors.ts'

/** Names generated until one is free, as upstream. */
const NAME_TRIES = 8
/** With its random end a generated name fits where a label's value must fit. */
const NAME_PREFIX_CHARACTERS_MAX = 58

/** Stores a new object; returns it as clients see it. */
export async function createObject(request: ResourceRequest, given: KubeObject, access: WriteAccess): Promise<Buffer> {
  const { resource } = request
  const { generateName = '', name = '' } = given.metadata
  const isGenerated = name === '' && generateName !== ''
  for (let tries = 1; ; tries++) {
    const object = newObject(request, given, access)
    const objectName = object.metadata.name ?? ''
    try {
      return await createOnce(request, object, access)
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists' || generateName === '') throw error
      if (!isGenerated || tries === NAME_TRIES) throw nameNotGenerated(resource, objectName)
    }
  }
}

/** What the server sets itself, whatever the client sent. */
function newObject({ resource }: ResourceRequest, given: KubeObject, { ids, now }: WriteAccess): KubeObject {
  const { generateName = '', name = '' } = given.metadata
  const prefix = generateName.slice(0, NAME_PREFIX_CHARACTERS_MAX)
  const metadata: ObjectMeta = {
    ...without(given.metadata, [...serverFields, ...deletionFields]),
    name: name === '' && generateName !== '' ? `${prefix}${ids.nameSuffix()}` : name,
    uid: ids.uid(),
    creationTimestamp: now(),
  }
  return resource.prepareCreate({ ...given, metadata })
}

async function createOnce(request: ResourceRequest, object: KubeObject, access: WriteAccess): Promise<Buffer> {
  const { resource, namespace, http } = request
  const { name = '', resourceVersion = '' } = object.metadata
  refuseInvalid(resource, name, [...validateMetadata(object, resource), ...resource.validate(object)])
  if (uintFault(resourceVersion) === undefined && BigInt(resourceVersion) > 0n) {
    throw unclassified('resourceVersion should not be set on objects to be created')
  }
  const key = access.keys.key(namespace, name)
  return translated({ resource, name, verb: 'create' }, async () => {
    try {
      const revision = await access.store.create(key, encodeStored(object, resource.shape), { signal: http.signal })
      return written(object, key, revision, { resource, access })
    } catch (error) {
      throw isCode(error, 'exists') ? await existing(resource, name, key, access) : error
    }
  })
}

/** An object that is going away still has the name, and the client is told so. */
async function existing(resource: Resource, name: string, key: Key, { reader }: WriteAccess): Promise<ApiError> {
  const { item } = await reader.get(key, 'latest')
  const isTerminating = item?.object().metadata.deletionTimestamp !== undefined
  return alreadyExists(resource, name, { isTerminating })
}

/** Replaces an object; returns it as clients see it. */
export async function updateObject(request: ResourceRequest, given: KubeObject, access: WriteAccess): Promise<Buffer> {
  const { resource, namespace, name, http } = request
  const key = access.keys.key(namespace, name)
  return translated({ resource, name, verb: 'update' }, async () => {
    let object = given
    const options = { cached: await cachedCurrent(key, access), decode: access.decode, signal: http.signal }
    const result = await access.store.update(key, options, (current) => {
      const decided = decideUpdate({ request, given, key, access }, current)
      object = decided.object
      return decided.decision
    })
    // A write that lets go of the last finalizer removes the object; its answer has the version from before.
    const revision = result.outcome === 'deleted' ? (result.previous?.revision ?? result.revision) : result.revision
    if (result.outcome === 'put') return written(object, key, revision, { resource, access })
    return printWire(withVersion(object, revision), resource.shape).bytes
  })
}

type Update = {
  readonly request: ResourceRequest
  readonly given: KubeObject
  readonly key: Key
  readonly access: WriteAccess
}

function decideUpdate(
  { request, given, key, access }: Update,
  current: Current<KubeObject> | undefined,
): { object: KubeObject; decision: Decision } {
  const { resource, name } = request
  const before = current?.object
  checkUid(request, given, { key, uid: before?.metadata.uid ?? '' })
  if (current === undefined || before === undefined) throw notFound(resource, name)
  checkVersion(request, given, current.revision)
  const metadata = withoutAbsent({ ...given.metadata, generation: before.metadata.generation })
  const object = keepSystemFields(resource.prepareUpdate({ ...given, metadata }, before), before)
  refuseInvalid(resource, name, [
    ...validateMetadataUpdate(object, before, resource),
    ...resource.validateUpdate(object, before),
  ])
  const isMarked = before.metadata.deletionTimestamp !== undefined
  if (isMarked && resource.markDeleted(object, access.now()) === undefined) return { object, decision: 'delete' }
  const put = encodeStored(object, resource.shape)
  const isSame = put.equals(encodeStored(before, resource.shape))
  return { object, decision: isSame ? 'unchanged' : { put } }
}

/** The words are those of upstream's storage, where this is checked. */
function checkUid(
  { resource, name }: ResourceRequest,
  given: KubeObject,
  stored: { readonly key: Key; readonly uid: string },
): void {
  const { uid = '' } = given.metadata
  if (uid === '' || uid === stored.uid) return
  const what = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`
  const key = toText(stored.key)
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${what}`
  throw conflict(resource, name, why)
}

function checkVersion({ resource, name }: ResourceRequest, given: KubeObject, revision: Revision): void {
  const { resourceVersion = '' } = given.metadata
  const fault = resourceVersion === '' ? undefined : uintFault(resourceVersion)
  if (fault !== undefined) throw unclassified(fault)
  if (resourceVersion === '' || BigInt(resourceVersion) === 0n) {
    if (resource.allowsUnconditionalUpdate) return
    const message = 'Invalid value: 0x0: must be specified for an update'
    const faults = [{ path: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }] as const
    throw invalid({ group: resource.group, kind: resource.plural }, name, faults)
  }
  if (BigInt(resourceVersion) !== BigInt(revision)) throw conflict(resource, name, modifiedMeanwhile)
}

/** What an update cannot change, it keeps; a mark of deletion on a living object is left for validation to refuse. */
function keepSystemFields(object: KubeObject, before: KubeObject): KubeObject {
  const was = before.metadata
  const isMarked = was.deletionTimestamp !== undefined
  const kept = [...keptFields, ...(isMarked ? deletionFields : [])]
  const metadata = Object.fromEntries(kept.map((name) => [name, was[name]]))
  return { ...object, metadata: withoutAbsent({ ...without(object.metadata, serverFields), ...metadata }) }
}

/** What a client sends of these is passed over. */
const serverFields = ['selfLink', 'managedFields'] as const
const deletionFields = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const
/** What stays through all updates. */
const keptFields = ['uid', 'creationTimestamp', 'managedFields'] as const

function without(metadata: ObjectMeta, names: readonly string[]): ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !names.includes(name)))
}

/** With exact optional properties, absent and undefined are two things. */
function withoutAbsent(fields: { readonly [field: string]: ObjectMeta[string] }): ObjectMeta {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function refuseInvalid(resource: Resource, name: string, faults: Parameters<typeof invalid>[2]): void {
  if (faults.length > 0) throw invalid(resource, name, faults)
}

/** What the cache has, to begin with: if it is old the compare loses, and the store reads the latest. */
export async function cachedCurrent(key: Key, { reader }: WriteAccess): Promise<Current<KubeObject> | undefined> {
  const { item } = await reader.get(key, 'any')
  if (item === undefined) return undefined
  return { revision: item.revision, createRevision: item.createRevision, object: item.object(), stale: false }
}

/** The object as it is now, for the answer and for the cache, which then need not read it from the database. */
export function written(
  object: KubeObject,
  key: Key,
  revision: Revision,
  { resource, access }: { readonly resource: Resource; readonly access: WriteAccess },
): Buffer {
  const current = withVersion(object, revision)
  const wire = printWire(current, resource.shape)
  access.reader.expect(key, revision, current, wire)
  return wire.bytes
}

export function withVersion(object: KubeObject, revision: Revision): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
}

const isCode = (error: unknown, code: StorageError['code']): boolean =>
  error instanceof StorageError && error.code === code
