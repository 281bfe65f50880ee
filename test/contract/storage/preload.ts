/** Libraries that are loaded before libc, to control how the disk behaves for a process. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Compiles `source`, a file of this folder, into `library`. Returns whether the library can be
 * preloaded. It cannot if, for example, its folder does not allow executable files.
 */
export function canPreload(source: string, library: string): boolean {
  // Other systems preload libraries in other ways.
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
