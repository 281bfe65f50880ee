/** Libraries that are loaded before libc, to simulate disk faults in a process. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Compiles `source`, a file in this folder, into `library`. Returns whether the library can be
 * preloaded. This fails, for example, if executable files are not permitted in the folder.
 */
export function canPreload(source: string, library: string): boolean {
  // Other systems do not use LD_PRELOAD.
  if (process.platform !== 'linux') return false
  try {
    execFileSync('cc', [
      '-shared',
      '-fPIC',
      '-o',
      library,
      join(import.meta.dirname, source),
      '-ldl',
    ])
  } catch {
    return false
  }
  const { status, stderr } = spawnSync('true', {
    env: { ...process.env, LD_PRELOAD: library },
    encoding: 'utf8',
  })
  return status === 0 && stderr === ''
}
