/** Libraries that are loaded before libc, to simulate disk faults in a process. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Compiles the C file `source` in this folder into the shared library `library`. Returns whether
 * programs can preload the library. For example, this fails in a folder from which nothing can be
 * executed.
 */
export function canPreload(source: string, library: string): boolean {
  // LD_PRELOAD only works on Linux.
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
