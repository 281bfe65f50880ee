/** Reads a file that a flag names. If it cannot be read, reports Go's message and returns undefined. */
import { readFileSync } from 'node:fs'
import { goFileError } from './files/go-file-error.ts'

type Faults = { readonly fault: (text: string) => void }

export const readFlagFile = (faults: Faults, path: string): string | undefined =>
  readFlagBytes(faults, path)?.toString('utf8')

export function readFlagBytes(faults: Faults, path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    faults.fault(goFileError('open', path, error))
    return undefined
  }
}
