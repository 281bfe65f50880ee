/** The text of a file, or why it cannot be read, in Go's words. */
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
