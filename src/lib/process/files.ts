import { mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../errors.ts'

/**
 * Creates a folder and its missing parents. Returns the topmost folder that was created, or
 * undefined if all folders existed. Node's recursive `mkdir` (Node 24) is not used: it loops
 * forever if the parent exists but the kernel reports that it does not, as in /proc.
 */
export function makeFolders(path: string, mode = 0o777): string | undefined {
  const missing: string[] = []
  for (let at = resolve(path); !isFolder(at); at = dirname(at)) {
    missing.push(at)
    if (at === dirname(at)) break
  }
  let highest: string | undefined
  for (const one of missing.toReversed()) if (makeOne(one, mode)) highest ??= one
  return highest
}

/** Creates a folder. Returns false if another process has created it in the meantime. */
function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST' && isFolder(path))
      return false
    throw error
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // The folder cannot be accessed. The attempt to create it will report the reason.
    return false
  }
}

/**
 * Returns the text of a file, or undefined if the file does not exist. Fails if the file exists but
 * cannot be read.
 */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Returns an error for a folder that cannot be used. It says to free space if the disk is full.
 * `advice` says how to choose another folder.
 */
export function folderError(folder: string, cause: unknown, advice: string): Error {
  const space = isDiskFull(cause) ? 'free space on its disk, or ' : ''
  return new Error(`${folder} cannot be used (${messageOf(cause)}): ${space}${advice}`, { cause })
}

/**
 * Creates a temporary folder whose name begins with the prefix. If this fails, the error says how
 * to choose another parent folder.
 */
export function makeTemporaryFolder(
  prefix: string,
  { parent = tmpdir(), advice = temporaryAdvice } = {},
): string {
  return orExplain(parent, advice, () => mkdtempSync(join(parent, prefix)))
}

/** Advice for an error in a temporary folder. */
export const temporaryAdvice = 'set TMPDIR to a writable folder'

/** Runs code that uses a folder. If this fails, throws an error as `folderError` describes. */
export function orExplain<T>(folder: string, advice: string, use: () => T): T {
  try {
    return use()
  } catch (cause) {
    throw folderError(folder, cause, advice)
  }
}

/** Whether an error means that a disk or a quota is full. SQLite reports this without a code. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : ''
  return code === 'ENOSPC' || code === 'EDQUOT' || error.message.includes('disk is full')
}
