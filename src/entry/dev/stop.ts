/**
 * `keelson stop`: stops `keelson dev` servers gracefully, and waits until their processes have
 * exited.
 */
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { platform } from '../../lib/platform/current-platform.ts'
import {
  type CommandFlagTable,
  missingValues,
  readCommandFlags,
} from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import { UsageError } from './dev-flags.ts'
import { listRunning, type RunningServer } from './running.ts'

const stopFlags = {
  'data-dir': {
    type: 'string',
    value: 'folder',
    shownDefault: './.keelson',
    help: 'The folder of the server to stop.',
  },
  all: { type: 'boolean', help: 'Stop all keelson dev servers that this user started.' },
} as const satisfies CommandFlagTable

export const stopHelp: CommandHelp = {
  usage: ['keelson stop [flags]'],
  description: `Stops the keelson dev that runs in the folder. Without --data-dir, and if none runs in
the default folder, stops the only one that runs. Data is kept.`,
  sections: [{ flags: stopFlags }],
}

/**
 * Maximum time to wait until a server has exited. It is longer than the time for which a server
 * waits for requests in progress.
 */
const STOP_MS_MAX = 40_000
const POLL_MS = 20

/**
 * Stops servers. Returns the lines to print. Throws a UsageError for invalid flags, and otherwise
 * an Error that says what to do.
 */
export async function stopRunning(args: readonly string[], index: string): Promise<string[]> {
  const wanted = choose(args, listRunning(index))
  const marks = new Map(wanted.map(({ pid }) => [pid, platform.startOf(pid)]))
  for (const { pid } of wanted) end(pid)
  await gone(marks)
  return wanted.map(({ pid, folder }) => `keelson dev in ${folder} (process ${pid}) has stopped`)
}

function choose(
  args: readonly string[],
  running: readonly RunningServer[],
): readonly RunningServer[] {
  const flags = readCommandFlags(args, stopFlags)
  const given = flags.values.get('data-dir')
  const isAll = flags.on.has('all')
  if (flags.rest.length > 0 || (isAll && given !== undefined)) {
    throw new UsageError([`keelson stop takes --data-dir=FOLDER or --all, not ${args.join(' ')}`])
  }
  const missing = missingValues(flags)
  if (missing.length > 0) throw new UsageError(missing)
  if (isAll) return running
  const folder = resolve(given ?? './.keelson')
  const there = running.filter((one) => one.folder === folder)
  if (there.length > 0) return there
  if (given === undefined && running.length === 1) return running
  const known =
    running.length === 0
      ? 'no servers are running'
      : 'keelson status lists the running servers; --all stops all of them'
  throw new Error(`no keelson dev runs in ${folder}: ${known}`)
}

/**
 * Sends SIGTERM to a process. Ignores a process that has already exited, because the other servers
 * must still be stopped.
 */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/**
 * Waits until the processes have exited. It would not be enough to wait until their records are
 * removed, because a server removes its record before its process exits.
 */
async function gone(marks: ReadonlyMap<number, string>): Promise<void> {
  const left = (): number[] =>
    [...marks].flatMap(([pid, mark]) =>
      mark !== '' && platform.startOf(pid) === mark ? [pid] : [],
    )
  for (let waitedMs = 0; left().length > 0; waitedMs += POLL_MS) {
    if (waitedMs >= STOP_MS_MAX) {
      throw new Error(
        `process ${left().join(', ')} does not stop: kill -9 ends it without losing acknowledged writes`,
      )
    }
    await sleep(POLL_MS)
  }
}
