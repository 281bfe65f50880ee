/** Libraries that are loaded before libc, so that the disk of a process does what a test wants. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Whether `source`, a file of this folder, could be made into `library`. A folder from which none
 * may be loaded is one reason why not.
 */
export function canPreload(source: string, library: string): boolean {
  // Other systems load such a library in other ways.
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
