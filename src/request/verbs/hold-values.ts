import { needsTooMuchMemory, noMemory } from '../../api/errors.ts'
import type { ApiRequest } from '../../api/request.ts'
import { countValues } from '../../objects/codec/member-count.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { Item } from '../../storage/cache/item.ts'

/** Number of bytes that the HTTP server has already reserved per byte of the body. */
const BODY_HELD_TIMES = 10
/**
 * Memory that a write needs for a stored object, as a multiple of its size. The object is decoded,
 * often copied, changed, serialized, and sent to webhooks.
 */
const STORED_HELD_TIMES = 10
/** Maximum size of a stored object for which no memory is reserved. Most objects are smaller. */
const STORED_BYTES_MIN = 16 << 10
/**
 * Memory that is reserved per value. An object with few fields takes 64 bytes, and a write creates
 * each value two or three times. An apply of empty objects with defaults takes 245 bytes per
 * object.
 */
const VALUE_HELD_BYTES = 240

/**
 * Reserves the memory that the values of a large body will need. Fails if not enough memory is
 * available for requests.
 */
export async function holdValues(request: ResourceRequest, json: Buffer): Promise<void> {
  const { context } = request
  const values = await context.inParts(() => countValues(json))
  hold(request, values * VALUE_HELD_BYTES - context.bodyBytes * BODY_HELD_TIMES)
}

/**
 * Reserves the memory that a write needs for a stored object. Fails if not enough memory is
 * available for requests. A deletecollection reserves nothing, because it deletes only a few
 * objects at a time.
 */
export function holdStored(request: ResourceRequest, size: number): void {
  if (size > STORED_BYTES_MIN && request.verb !== 'deletecollection')
    hold(request, size * STORED_HELD_TIMES)
}

/**
 * Like `holdStored`, but for a large object. Also reserves memory for its values, which are counted
 * in its JSON. Counting values in protobuf would require the schema.
 */
export async function holdLargeItem(request: ResourceRequest, item: Item): Promise<void> {
  if (request.verb === 'deletecollection') return
  const storedBytes = item.length
  holdStored(request, storedBytes)
  // Read the length before `prepare`, which replaces the stored bytes of the item by its JSON.
  await item.prepare()
  await holdMore(request, item.wire(), storedBytes)
}

/** Like `holdLargeItem`, for an object that is stored as JSON. */
export async function holdStoredJson(request: ResourceRequest, json: Buffer): Promise<void> {
  if (request.verb === 'deletecollection') return
  holdStored(request, json.length)
  await holdMore(request, json, json.length)
}

/**
 * Reserves the memory that the values in the JSON need, minus the memory that `holdStored` has
 * reserved for an object of this size.
 */
async function holdMore(request: ResourceRequest, json: Buffer, size: number): Promise<void> {
  const values = await request.context.inParts(() => countValues(json))
  hold(request, values * VALUE_HELD_BYTES - size * STORED_HELD_TIMES)
}

function hold({ http }: ResourceRequest, bytes: number): void {
  if (bytes > 0) holdObject(http, bytes)
}

/** Reserves memory for an object. Fails if not enough memory is available for requests. */
export function holdObject(http: ApiRequest, bytes: number): void {
  const result = http.holdObject?.(bytes)
  if (result === 'busy') throw noMemory()
  if (result === 'too-large') throw needsTooMuchMemory()
}

/** Number of fields for which the decoder of a protobuf body reserves memory in one call. */
const HELD_FIELDS = 16_384

/**
 * Returns a function that the decoder of a large protobuf body calls to reserve memory while it
 * reads fields. Each call returns the number of further fields for which memory is available. The
 * first call uses the memory that is already reserved for the body.
 */
export function holdFields(request: ResourceRequest): () => number {
  let isFirst = true
  return () => {
    const bodyBytes = isFirst ? request.context.bodyBytes * BODY_HELD_TIMES : 0
    isFirst = false
    if (bodyBytes > 0) return Math.floor(bodyBytes / VALUE_HELD_BYTES)
    hold(request, HELD_FIELDS * VALUE_HELD_BYTES)
    return HELD_FIELDS
  }
}
