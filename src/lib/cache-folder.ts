import { isAbsolute, join } from 'node:path'

/**
 * Where what can be made again is kept: a folder of the user's own, never one below /tmp, where another user could have placed code to run.
 * Undefined: the user has no such folder.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const home = env['XDG_CACHE_HOME'] ?? (env['HOME'] && join(env['HOME'], '.cache'))
  return home !== undefined && isAbsolute(home) ? join(home, 'keelson') : undefined
}
