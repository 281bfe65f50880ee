/**
 * Passes the content of a response to the audit log. The audit log always receives JSON, whatever
 * format the client accepts.
 */
import type { AuditRecorder } from '../../../api/audited.ts'
import type { LazyBody } from '../../../api/request.ts'
import { assert } from '../../../lib/errors.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import type { Body, Representation } from './representation.ts'

/**
 * The recorder for the audit log, and a function that reserves memory. `hold` receives a number of
 * bytes, and fails if not enough memory is available for requests.
 */
export type Auditing = { readonly audit: AuditRecorder; readonly hold: (bytes: number) => void }

/**
 * Returns a representation that also passes the objects to the audit log. `json` represents the
 * same objects as compact JSON.
 */
export const audited = (
  shown: Representation,
  json: Representation,
  { audit, hold }: Auditing,
): Representation => ({
  headers: shown.headers,
  item: (item) => {
    const recorded = json.item(item)
    record(recorded, { audit, hold })
    return shown === json ? recorded : shown.item(item)
  },
  object: (object, shape) => {
    const recorded = json.object(object, shape)
    record(recorded, { audit, hold })
    return shown === json ? recorded : shown.object(object, shape)
  },
  written: (written, shape) => {
    const recorded = json.written(written, shape)
    record(recorded, { audit, hold })
    return shown === json ? recorded : shown.written(written, shape)
  },
  list: async (items, metadata) => {
    audit.responseObject(await collect(await json.list(items, metadata), { audit, hold }))
    return shown.list(items, metadata)
  },
})

/**
 * Passes an object to the audit log. Memory is reserved only for the copies that the audit log
 * makes, because the JSON itself is shared with the cache or the response. Even if the response is
 * serialized in slices, memory is reserved only once.
 */
function record(json: Body, { audit, hold }: Auditing): void {
  assert(Buffer.isBuffer(json), 'compact JSON of an object is made at once')
  once('recorded object', () => {
    if (json.length > audit.objectBytesMax) return audit.responseObject(undefined)
    hold(json.length * audit.copies)
    audit.responseObject(json)
  })
}

/** Returns the whole body, or undefined if it exceeds the maximum size of a recorded object. */
async function collect(
  body: Buffer | LazyBody,
  { audit, hold }: Auditing,
): Promise<Buffer | undefined> {
  const { length } = body
  if (length > audit.objectBytesMax) return undefined
  hold(length * (1 + audit.copies))
  if (Buffer.isBuffer(body)) return body
  const whole = Buffer.allocUnsafeSlow(length)
  const slices = new Slices()
  let used = 0
  // Copy each chunk, because its memory is reused for the next one.
  for await (const parts of body.chunks) {
    for (const part of parts) used += part.copy(whole, used)
    if (slices.isOver) await slices.turn()
  }
  return whole.subarray(0, used)
}
