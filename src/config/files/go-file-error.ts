/** Why a file cannot be read, in Go's words: `open /x: no such file or directory`. */
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
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  // Go opens a folder like a file and finds out when it reads.
  const named = code === 'EISDIR' ? 'read' : call
  return `${named} ${path}: ${words[code] ?? (error instanceof Error ? error.message : String(error))}`
}
