/** Prepares the written object for the response and for the cache. */
import type { KubeObject } from '../../../api/object.ts'
import {
  encodeStored,
  hasEmptyMetadata,
  markOutdated,
  printObject,
  printWire,
  wireOfStored,
  withoutEmptyMetadata,
  withoutNullBytes,
} from '../../../objects/codec/object.ts'
import { type Resource } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { inParts, once } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'
import type { Key, Revision } from '../../../storage/engine.ts'
import type { WriteAccess } from '../access.ts'
import type { WrittenObject } from '../represent/representation.ts'

/**
 * Returns the object for the response to a write. This must not fail, even if the client has
 * disconnected. The object is already stored, and an error would release its addresses and ports.
 */
export async function answered(
  object: KubeObject,
  key: Key,
  revision: Revision,
  writing: WrittenOptions,
): Promise<WrittenObject> {
  const context = writing.request?.context
  if (writing.access.storage.readBack === undefined)
    return context?.isLarge === true
      ? inParts(() => written(object, key, revision, writing), context.slices)
      : written(object, key, revision, writing)
  return { object: withVersion(await readBack(object, writing), revision), json: undefined }
}

/**
 * Returns the written object for the response. It is also passed to the cache, which then does not
 * have to decode it from the watch event.
 */
export function written(
  object: KubeObject,
  key: Key,
  revision: Revision,
  { resource, access, stored, mayHoldUnknown, request, appliedTo }: WrittenOptions,
): WrittenObject {
  const textBytes = textBytesOf(request)
  const { object: form, isOther } = once('stored form', () =>
    asStored(object, resource.shape, mayHoldUnknown),
  )
  const current: AppliedObject = withVersion(form, revision)
  if (isOther) markOutdated(current)
  const made =
    stored === undefined || form !== object
      ? undefined
      : wireOfStored(stored, current, resource.shape)
  const wire = made ?? printWire(current, resource.shape)
  // Pass the object to the cache only if it does not keep much other memory in use. The strings of
  // the object are slices of the strings of the request. V8 keeps these strings as a whole, even if
  // a body contains megabytes of whitespace or of fields that are not stored.
  let isKept = textBytes <= wire.bytes.length + KEPT_BYTES
  if (isKept && appliedTo !== undefined) {
    const allBytes = textBytes + (appliedTo[textBytesBefore] ?? 0)
    isKept = allBytes <= APPLIED_TEXTS_MAX * wire.bytes.length + KEPT_BYTES
    current[textBytesBefore] = allBytes
  }
  access.reader.expect(key, revision, isKept ? current : undefined, wire)
  return { object: current, json: wire.bytes }
}

/**
 * Total length of the strings of which an applied object's strings are slices. This includes the
 * strings of earlier applies, because fields that an apply does not mention keep their strings.
 *
 * The length is a property of the object, because garbage collection would take longer with entries
 * of a WeakMap. If the object is copied by a spread, the copy has the same strings and the same
 * property.
 */
const textBytesBefore = Symbol('textBytesBefore')
type AppliedObject = KubeObject & { [textBytesBefore]?: number }
/**
 * Maximum total length of the strings of which an applied object's strings are slices, as a
 * multiple of the object's length. If the maximum is exceeded, the cache decodes the object from
 * the stored bytes.
 */
const APPLIED_TEXTS_MAX = 4

/**
 * Maximum number of bytes of a request that a cached object can keep in memory in addition to the
 * object's own length. Most requests are shorter than the stored object.
 */
const KEPT_BYTES = 4096

/**
 * Returns the total length of the strings of which the object's strings might be slices. These are
 * the body, the path, and the strings that contain the field manager.
 */
function textBytesOf(request: ResourceRequest | undefined): number {
  if (request === undefined) return 0
  const { context, http } = request
  return (
    context.textBytes +
    http.path.length +
    (http.rawQuery?.length ?? 0) +
    (http.headers['user-agent']?.length ?? 0)
  )
}

/**
 * Returns an object for a response. If the object is large, its JSON is generated in slices and
 * included. Like `answered`, this function does not fail if the client has disconnected.
 */
export async function shownLarge(
  request: ResourceRequest,
  object: KubeObject,
): Promise<WrittenObject> {
  const { context } = request
  if (!context.isLarge) return { object, json: undefined }
  const { shape } = request.view ?? request.resource
  return { object, json: await inParts(() => printObject(object, shape), context.slices) }
}

type WrittenOptions = {
  readonly resource: Resource
  /**
   * The request whose strings the object contains. Absent if the object contains no strings of a
   * client.
   */
  readonly request?: ResourceRequest
  /** The object to which the configuration was applied. Unchanged fields share its strings. */
  readonly appliedTo?: AppliedObject | undefined
  readonly access: Pick<WriteAccess, 'reader' | 'storage'>
  readonly stored?: Buffer | undefined
  /**
   * Whether the object can have fields that are not in its schema. For example, a write of a Scale
   * sets the replicas at a path that the definition chooses.
   */
  readonly mayHoldUnknown?: boolean
}

/**
 * Returns the object as a read returns it after it is stored. `stored` are the bytes that were
 * stored or would be stored, if they are known.
 */
export async function readBack(object: KubeObject, writing: WrittenOptions): Promise<KubeObject> {
  const { resource, access, stored, mayHoldUnknown, request } = writing
  if (access.storage.readBack === undefined) {
    const read = (): KubeObject => asStored(object, resource.shape, mayHoldUnknown).object
    return request?.context.isLarge === true ? request.context.inParts(read) : read()
  }
  return access.storage.readBack(stored ?? encodeStored(object, resource.shape))
}

type StoredObject = {
  readonly object: KubeObject
  /**
   * Whether the stored form of the object would change if the object were read and written again.
   */
  readonly isOther: boolean
}

/**
 * Returns the object as it is read after being stored. For a custom resource, fields that are not
 * in the stored version are lost, and removed fields get their defaults again.
 */
function asStored(object: KubeObject, schema: ObjectSchema, mayHoldUnknown = false): StoredObject {
  const { custom, stored, setDefaults, isDefaultedAgain } = schema
  if (custom === undefined) {
    const kept = withoutNullBytes(object, schema)
    if (isDefaultedAgain !== true) return { object: kept, isOther: kept !== object }
    const whole = once('defaults of stored form', () => setDefaults(object))
    return { object: whole, isOther: !isSame(whole, object) }
  }
  const kept = once(
    'custom stored form',
    () => stored?.toStored(withoutEmptyMetadata(object)) ?? object,
  )
  const whole = once(
    'custom whole form',
    () =>
      stored?.fromStored(kept) ??
      (mayHoldUnknown ? custom.fromStored(object) : setDefaults(object)),
  )
  const isOther =
    hasEmptyMetadata(kept) || (stored === undefined ? whole !== object : !custom.isCurrent(kept))
  return { object: withoutEmptyMetadata(whole), isOther }
}

export function withVersion(object: KubeObject, revision: Revision): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
}
