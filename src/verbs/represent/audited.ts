/** Tells the audit log what a response shows, in JSON, whatever the client accepts. */
import type { Audited } from '../../api/audited.ts'
import type { LazyBody } from '../../api/request.ts'
import { Slices } from '../../lib/slices.ts'
import { assert } from '../../lib/assert.ts'
import type { Body, Representation } from './representation.ts'

/** `json`: the same representation in compact JSON. */
export const audited = (shown: Representation, json: Representation, audit: Audited): Representation => ({
  headers: shown.headers,
  item: (item) => {
    record(json.item(item), audit)
    return shown.item(item)
  },
  object: (object, shape) => {
    record(json.object(object, shape), audit)
    return shown.object(object, shape)
  },
  written: (written, shape) => {
    record(json.written(written, shape), audit)
    return shown.written(written, shape)
  },
  list: async (items, metadata) => {
    audit.responseObject(await collect(await json.list(items, metadata), audit))
    return shown.list(items, metadata)
  },
})

function record(json: Body, audit: Audited): void {
  assert(Buffer.isBuffer(json), 'compact JSON of an object is made at once')
  audit.responseObject(json.length > audit.objectBytesMax ? undefined : json)
}

/** Undefined if there are more bytes than are recorded. */
async function collect(body: Buffer | LazyBody, { objectBytesMax }: Audited): Promise<Buffer | undefined> {
  const { length } = body
  if (length > objectBytesMax) return undefined
  if (Buffer.isBuffer(body)) return body
  const whole = Buffer.allocUnsafe(length)
  const slices = new Slices()
  let used = 0
  // The memory of a chunk is reused for the next one.
  for await (const parts of body.chunks) {
    for (const part of parts) used += part.copy(whole, used)
    if (slices.isOver) await slices.turn()
  }
  return whole.subarray(0, used)
}
