/**
 * Windows. Processes are described by PowerShell, netstat and tasklist. There are no user IDs and
 * file modes: the folders of a user's profile are protected by their access control lists.
 */
import type { Platform, RunningProcess } from './platform.ts'
import type { System } from './system.ts'

export const createWindows = (system: System): Platform => ({
  name: 'Windows',
  cacheHome: (env) => env['XDG_CACHE_HOME'] ?? env['LOCALAPPDATA'],
  isOwn: () => true,
  // Nothing to do: Windows cannot open a folder like a file, and NTFS writes the entries of folders
  // to its own log.
  flushFolder: () => undefined,
  openFilesMax: () => Infinity,
  usage: undefined,
  startOf: (pid) => askPowerShell(`(Get-Process -Id ${pid}).StartTime.Ticks`, system),
  commandOf: (pid) =>
    askPowerShell(`(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`, system),
  listenerOn: (port) => findListener(port, system),
  programNames: (program) => [`${program}.exe`, `${program}.cmd`],
})

const askPowerShell = (expression: string, system: System): string =>
  system.run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', expression]).trim()

/**
 * A line of netstat has the protocol, the local address, the remote address, the state and the
 * process ID. The name of the state depends on the language of Windows. So a listener is recognized
 * by its remote port 0.
 */
function findListener(port: number, system: System): RunningProcess | undefined {
  const rows = system
    .run('netstat.exe', ['-ano'])
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const row = rows.find(
    ([protocol, local = '', remote = '']) =>
      protocol === 'TCP' && local.endsWith(`:${port}`) && remote.endsWith(':0'),
  )
  const pid = Number(row?.at(-1))
  if (!Number.isInteger(pid)) return undefined
  const shown = system.run('tasklist.exe', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'])
  return { pid, name: /^"([^"]*)"/.exec(shown.trim())?.[1] ?? '' }
}
