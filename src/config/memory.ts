/** How much memory the server may use for whom: --request-memory-max and --cache-memory-max. */
import { parseQuantity } from '../api/quantity.ts'
import type { Values } from './values.ts'

export type MemoryConfig = {
  /**
   * What requests and answers may hold together, in bytes; null: a part of what the process has.
   */
  readonly requestBytesMax: number | null
  /**
   * What the cache may hold; null: a part of what the process may use, if that is limited from
   * outside, else any amount.
   */
  readonly cacheBytesMax: number | null
}

/** Less than this is no server. */
const BYTES_MIN = 16 << 20

export function readMemory(values: Values): MemoryConfig {
  return {
    requestBytesMax: readBytes(values, 'request-memory-max'),
    cacheBytesMax: readBytes(values, 'cache-memory-max'),
  }
}

function readBytes(values: Values, name: 'request-memory-max' | 'cache-memory-max'): number | null {
  const text = values.string(name)
  if (text === '') return null
  const quantity = parseQuantity(text)
  const bytes = 'fault' in quantity ? Number.NaN : Number(quantity.nanos / 1_000_000_000n)
  if (bytes >= BYTES_MIN && Number.isSafeInteger(bytes)) return bytes
  values.fault(`--${name}=${text} is no amount of memory: say 512Mi, and at least 16Mi`)
  return null
}
