/**
 * Reads a file that a flag names. If the file cannot be read, reports Go's error message and
 * returns undefined.
 */
import { readBytes } from './files/read-file.ts'

type Faults = { readonly fault: (text: string) => void }

export const readFlagFile = (faults: Faults, path: string): string | undefined =>
  readFlagBytes(faults, path)?.toString('utf8')

export function readFlagBytes(faults: Faults, path: string): Buffer | undefined {
  const read = readBytes(path)
  if ('bytes' in read) return read.bytes
  faults.fault(read.fault)
  return undefined
}
