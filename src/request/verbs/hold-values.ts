import { noMemory } from '../../api/errors.ts'
import { countValues } from '../../objects/codec/member-count.ts'
import type { ResourceRequest } from '../../registry/resource.ts'

/** What http/ has taken for each byte of the body. */
const BODY_HELD_TIMES = 10
/** An object with few fields has 64 bytes, and two or three are made of each on the way. */
const VALUE_HELD_BYTES = 160

/** Reserves the memory that the values of a large body will need. Fails if the byte budget is used up. */
export async function holdValues({ http, context }: ResourceRequest, json: Buffer): Promise<void> {
  const values = await context.inParts(() => countValues(json))
  const bytes = values * VALUE_HELD_BYTES - context.bodyBytes * BODY_HELD_TIMES
  if (bytes > 0 && http.holdObject?.(bytes) === false) throw noMemory()
}

/** Fields for which the decoder of a protobuf body takes room at once. */
const HELD_FIELDS = 16_384

/** For the decoder of a large protobuf body, which takes room for its fields as it reads them. */
export function holdFields({ http, context }: ResourceRequest): () => number {
  let isFirst = true
  return () => {
    const bodyBytes = isFirst ? context.bodyBytes * BODY_HELD_TIMES : 0
    isFirst = false
    if (bodyBytes > 0) return Math.floor(bodyBytes / VALUE_HELD_BYTES)
    if (http.holdObject?.(HELD_FIELDS * VALUE_HELD_BYTES) === false) throw noMemory()
    return HELD_FIELDS
  }
}
