/** macOS, and other systems of the Unix family that have `ps`, `lsof` and a shell. */
import type { Platform, RunningProcess } from './platform.ts'
import type { System } from './system.ts'
import { createUnix } from './unix.ts'

export const createMacos = (system: System): Platform => ({
  name: 'macOS',
  ...createUnix(system),
  // The output of `ulimit -n` is a number or "unlimited".
  openFilesMax: () => Number(system.run('/bin/sh', ['-c', 'ulimit -n'])) || Infinity,
  usage: undefined,
  startOf: (pid) => system.run('ps', ['-o', 'lstart=', '-p', `${pid}`]).trim(),
  commandOf: (pid) => system.run('ps', ['-o', 'command=', '-p', `${pid}`]).trim(),
  listenerOn: (port) => findListener(port, system),
})

/**
 * Finds the process that listens on a port. lsof prints one field per line: `p` with the process
 * ID, and `c` with the name of the process.
 */
function findListener(port: number, system: System): RunningProcess | undefined {
  const shown = system.run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'])
  const pid = /^p(\d+)$/m.exec(shown)?.[1]
  if (pid === undefined) return undefined
  return { pid: Number(pid), name: /^c(.*)$/m.exec(shown)?.[1] ?? '' }
}
