/** Returns Go's message for a file that cannot be read: `open /x: no such file or directory`. */
import { messageOf } from '../../lib/errors.ts'

const words: { readonly [code: string]: string } = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  EMFILE: 'too many open files',
}

export function goFileError(call: 'open' | 'stat' | 'read', path: string, error: unknown): string {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  // In Go, opening a directory succeeds, but reading it fails.
  const named = code === 'EISDIR' ? 'read' : call
  return `${named} ${path}: ${words[code] ?? messageOf(error)}`
}
