/** Tells the audit log what a response shows, in JSON, whatever the client accepts. */
import type { Audited } from '../../api/audited.ts'
import type { LazyBody } from '../../api/request.ts'
import { Slices } from '../../lib/slices.ts'
import type { Representation } from './representation.ts'

/** `json`: the same representation in compact JSON. */
export const audited = (shown: Representation, json: Representation, audit: Audited): Representation => ({
  headers: shown.headers,
  item: (item) => {
    audit.responseObject(bounded(json.item(item), audit))
    return shown.item(item)
  },
  object: (object, shape) => {
    audit.responseObject(bounded(json.object(object, shape), audit))
    return shown.object(object, shape)
  },
  written: (written, shape) => {
    audit.responseObject(bounded(json.written(written, shape), audit))
    return shown.written(written, shape)
  },
  list: async (items, metadata) => {
    audit.responseObject(await collect(await json.list(items, metadata), audit))
    return shown.list(items, metadata)
  },
})

const bounded = (bytes: Buffer, { objectBytesMax }: Audited): Buffer | undefined =>
  bytes.length > objectBytesMax ? undefined : bytes

/** Undefined if there are more bytes than are recorded. */
async function collect(
  body: Buffer | LazyBody | readonly Buffer[],
  { objectBytesMax }: Audited,
): Promise<Buffer | undefined> {
  const length =
    Buffer.isBuffer(body) || 'chunks' in body ? body.length : body.reduce((sum, one) => sum + one.length, 0)
  if (length > objectBytesMax) return undefined
  if (Buffer.isBuffer(body)) return body
  const whole = Buffer.allocUnsafe(length)
  const slices = new Slices()
  let used = 0
  // The memory of a chunk is reused for the next one.
  for await (const parts of 'chunks' in body ? body.chunks : [body]) {
    for (const part of parts) used += part.copy(whole, used)
    if (slices.isOver) await slices.turn()
  }
  return whole.subarray(0, used)
}
