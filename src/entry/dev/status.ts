/** `keelson status`: prints the running servers as a table. */
import { type CommandFlagTable, outputFlag } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import type { RunningServer } from './running.ts'

export const statusFlags = { output: outputFlag } as const satisfies CommandFlagTable

export const statusHelp: CommandHelp = {
  usage: ['keelson status [flags]'],
  description: 'Lists the servers of keelson dev that this user runs on this machine.',
  sections: [{ flags: statusFlags }],
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export function describeRunning(running: readonly RunningServer[], nowMs: number): string {
  if (running.length === 0) return 'No servers are running: keelson dev starts one.\n'
  const rows = running.map(({ pid, url, store, startedMs, folder }) => [
    `${pid}`,
    url,
    describeAge(nowMs - startedMs),
    store,
    folder,
  ])
  const all = [['PROCESS', 'URL', 'AGE', 'STORE', 'FOLDER'], ...rows]
  const widths = all.reduce(
    (known, row) => row.map((cell, at) => Math.max(cell.length, known[at] ?? 0)),
    [0],
  )
  return all
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function describeAge(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))}s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`
  return `${Math.floor(ms / HOUR_MS)}h`
}
