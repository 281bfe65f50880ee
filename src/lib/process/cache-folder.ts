/**
 * The folder for files that can be created again. Some of them contain code that is run, so the
 * folder is used only if no other user can write to it.
 */
import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { platform } from '../platform/current-platform.ts'
import { makeFolders } from './files.ts'

/**
 * Returns Keelson's own folder in the user's cache folder, and creates it if it does not exist.
 * Returns undefined if the folder cannot be created or does not belong to this user, or if other
 * users can write to it. Call this before reading anything from the folder.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const home = platform.cacheHome(env)
  if (home === undefined || !isAbsolute(home)) return undefined
  const folder = join(home, 'keelson')
  try {
    makeFolders(folder, 0o700)
    const found = lstatSync(folder)
    return found.isDirectory() && platform.isOwn(found) ? folder : undefined
  } catch {
    // The disk is read-only, or the path is not a folder. No cache is used, so the next start is
    // not faster.
    return undefined
  }
}
