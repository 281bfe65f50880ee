/**
 * The folder for files that can be created again. Some of them contain code, so other users must
 * not have been able to write to the folder.
 */
import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { makeFolders } from './files.ts'

/** Write permissions, which other users must not have on the folder. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * Returns the user's own cache folder. Creates the folder if it does not exist. Returns undefined
 * if there is no such folder, or if another user could have written to it, as in a folder below
 * /tmp. Call this before reading anything from the folder.
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
    // The disk is read-only, or the path is not a folder. No cache is used, so the next start is
    // not faster.
    return undefined
  }
}
