/**
 * Where what can be made again is kept. Code is among it, so nobody else may have placed anything
 * there.
 */
import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { makeFolders } from './files.ts'

/** What others may not have of the folder. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * A folder of the user's own, which is created if it does not exist. Undefined: there is none, or
 * another user could have written there, as in one below /tmp. Call it before anything is read from
 * the folder.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const home = env['XDG_CACHE_HOME'] ?? (env['HOME'] && join(env['HOME'], '.cache'))
  if (home === undefined || !isAbsolute(home)) return undefined
  const folder = join(home, 'keelson')
  try {
    makeFolders(folder, 0o700)
    const found = lstatSync(folder)
    const isOwn =
      found.isDirectory() &&
      found.uid === process.getuid?.() &&
      (found.mode & WRITABLE_BY_OTHERS) === 0
    return isOwn ? folder : undefined
  } catch {
    // A read-only disk, or something else in its place: the next start takes as long as this one.
    return undefined
  }
}
