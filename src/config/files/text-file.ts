/** Reads a text file; errors have Go's messages. */
import { readFileSync } from 'node:fs'
import type { FileFault } from './decode-file.ts'
import { goFileError } from './go-file-error.ts'

export function readTextFile(path: string): { readonly text: string } | FileFault {
  try {
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    return { fault: goFileError('open', path, error) }
  }
}
