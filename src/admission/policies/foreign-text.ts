/** Formats CEL values that JSON cannot represent, as Go prints them in messages. */
import { goDate, goTime } from '../../api/go-value.ts'
import { formatTimestamp } from '../../objects/cel/time.ts'
import { Duration, Timestamp, Uint, type Value } from '../../objects/cel/values.ts'

/**
 * The text that Go prints for a value: `plain` for the verb %v, `syntax` for %#v, and `name` for
 * %T.
 */
export type GoText = { readonly plain: string; readonly syntax: string; readonly name: string }

/** Maximum number of bytes of a byte string that are shown. */
const BYTES_MAX = 1_000

/**
 * Returns Go's text for a value. Returns undefined for lists, maps and values that JSON can
 * represent.
 */
export function goTextOf(value: Value): GoText | undefined {
  if (value === null) return { plain: 'NULL_VALUE', syntax: '0', name: 'structpb.NullValue' }
  if (value instanceof Uint) {
    return { plain: String(value.value), syntax: `0x${value.value.toString(16)}`, name: 'uint64' }
  }
  if (value instanceof Uint8Array) {
    const bytes = [...value.subarray(0, BYTES_MAX)]
    const hex = bytes.map((byte) => `0x${byte.toString(16)}`)
    return { plain: `[${bytes.join(' ')}]`, syntax: `[]uint8{${hex.join(', ')}}`, name: '[]uint8' }
  }
  if (value instanceof Duration)
    return { plain: `${value.nanos}ns`, syntax: String(value.nanos), name: 'time.Duration' }
  if (!(value instanceof Timestamp)) return undefined
  const text = formatTimestamp(new Timestamp(value.nanos))
  return {
    plain: goTime(text),
    syntax: goDate(text).replace('time.Local', 'time.UTC'),
    name: 'time.Time',
  }
}
