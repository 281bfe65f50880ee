/** Reads the flags that limit memory use: --request-memory-max and --cache-memory-max. */
import { parseQuantity } from '../api/quantity.ts'
import type { Values } from './values.ts'

export type MemoryConfig = {
  /**
   * Maximum total size in bytes of requests and responses in memory. If null, the maximum is a
   * fraction of the memory available to the process.
   */
  readonly requestBytesMax: number | null
  /**
   * Maximum size of the cache in bytes. If null, the maximum is a fraction of the memory limit of
   * the process, or unlimited if the process has no memory limit.
   */
  readonly cacheBytesMax: number | null
}

/** The smallest value that both flags accept. The server cannot run with less memory. */
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
  values.fault(
    `--${name}=${text} is not a valid amount of memory: use a quantity such as 512Mi, and at least 16Mi`,
  )
  return null
}
