/** Runs Keelson as a separate process. */
import { linkSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'

/**
 * The program of this checkout, or of the built package that KEELSON_PROGRAM names. .ci/run builds
 * the package once, because it starts several times faster.
 */
export const keelsonProgram =
  process.env['KEELSON_PROGRAM'] ?? join(import.meta.dirname, '..', '..', '..', 'bin', 'keelson')

export const startKeelson = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([keelsonProgram, 'serve'], options)

/**
 * Creates a folder for XDG_CACHE_HOME, so that a test does not change the user's list of running
 * servers. Links the code of Keelson that V8 has compiled from the user's cache. Without it, each
 * command would compile the code again, which takes most of its CPU time.
 */
export function createCacheHome(home: string): string {
  const own = join(home, 'keelson')
  mkdirSync(own, { recursive: true, mode: 0o700 })
  const shared = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'keelson')
  try {
    for (const name of readdirSync(shared))
      if (name.startsWith('code-')) linkSync(join(shared, name), join(own, name))
  } catch {
    // Another process may have replaced a file, or the cache is on another disk. The test only
    // takes longer.
  }
  return home
}
