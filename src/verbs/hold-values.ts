import { noMemory } from '../api/errors.ts'
import { countValues } from '../codec/member-count.ts'
import type { ResourceRequest } from '../registry/resource.ts'

/** A smaller body is held as ten times its length, which its values hardly exceed. */
const SMALL_BYTES = 64 * 1024
/** What http/ has taken for each byte of the body. */
const BODY_HELD_TIMES = 10
/** An object with few fields has 64 bytes, and two or three are made of each on the way. */
const VALUE_HELD_BYTES = 160

/** Takes what the values of a body will hold from the budget. Fails if there is no room. */
export function holdValues({ http, context }: ResourceRequest, json: Buffer): void {
  if (json.length <= SMALL_BYTES || http.holdObject === undefined) return
  const bytes = countValues(json) * VALUE_HELD_BYTES - context.bodyBytes * BODY_HELD_TIMES
  if (bytes > 0 && !http.holdObject(bytes)) throw noMemory()
}
