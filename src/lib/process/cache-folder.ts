/**
 * The folder for files that can be created again. Some of them are code, so no other user may have
 * placed anything there.
 */
import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { makeFolders } from './files.ts'

/** Permissions that other users must not have on the folder. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * Returns the user's own cache folder, which is created if it does not exist. Returns undefined if
 * there is none, or if another user could have written there, as in a folder below /tmp. Must be
 * called before anything is read from the folder.
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
    // The disk is read-only, or the path is taken: the next start is as slow as this one.
    return undefined
  }
}
