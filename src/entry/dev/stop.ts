/** `keelson stop`: ends what `keelson dev` runs, in order, and waits until it is gone. */
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { missingValues, readCommandFlags } from '../../lib/process/command-flags.ts'
import { UsageError } from './dev-flags.ts'
import { listRunning, markOf, type RunningServer } from './running.ts'

export const stopHelp = `Usage: keelson stop [flags]

Ends keelson dev: that of the folder, or, if there is none, the only one that runs. Data stays.

  --data-dir=folder (default ./.keelson)
        The folder of the one to end.
  --all
        Ends each keelson dev of this user.
  --help
        Shows this text.
`

/** Longer than a server waits for the requests that it is answering. */
const STOP_MS_MAX = 40_000
const POLL_MS = 20

/** What it did, in lines. Fails with a UsageError, or with an Error that says what to do. */
export async function stopRunning(args: readonly string[], index: string): Promise<string[]> {
  const wanted = choose(args, listRunning(index))
  const marks = new Map(wanted.map(({ pid }) => [pid, markOf(pid)]))
  for (const { pid } of wanted) end(pid)
  await gone(marks)
  return wanted.map(({ pid, folder }) => `keelson dev in ${folder} (process ${pid}) has stopped`)
}

function choose(
  args: readonly string[],
  running: readonly RunningServer[],
): readonly RunningServer[] {
  const flags = readCommandFlags(args, { values: ['data-dir'], switches: ['all'] })
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
    running.length === 0 ? 'nothing runs' : 'keelson status lists what runs; --all ends all of it'
  throw new Error(`no keelson dev runs in ${folder}: ${known}`)
}

/** One that has ended by itself meanwhile is no reason to leave the others running. */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** The processes themselves: what they note about themselves may go before they do. */
async function gone(marks: ReadonlyMap<number, string>): Promise<void> {
  const left = (): number[] =>
    [...marks].flatMap(([pid, mark]) => (mark !== '' && markOf(pid) === mark ? [pid] : []))
  for (let waitedMs = 0; left().length > 0; waitedMs += POLL_MS) {
    if (waitedMs >= STOP_MS_MAX) {
      throw new Error(
        `process ${left().join(', ')} does not end: kill -9 ends it, and loses nothing acknowledged`,
      )
    }
    await sleep(POLL_MS)
  }
}
