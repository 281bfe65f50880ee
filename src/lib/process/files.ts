import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those above it that are missing; returns the highest one that was made, if
 * any. Node's own way of it tries for ever where the parent is there and the kernel says all the
 * same that it is not, as in /proc (Node 24).
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

/** False: somebody else made it meanwhile. */
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
    // Whatever the reason is, making it fails by it, too.
    return false
  }
}

/** Undefined if there is no such file. Fails if it exists but cannot be read. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
