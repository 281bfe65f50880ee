/**
 * Records the running `keelson dev` servers of this user, for `keelson status` and `keelson stop`.
 * Each server has its own file.
 */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, textOf } from '../../api/object.ts'
import { platform } from '../../lib/platform/current-platform.ts'
import { folderError, makeFolders, readIfThere } from '../../lib/process/files.ts'

export type RunningServer = {
  readonly pid: number
  readonly url: string
  /** The absolute path of the data folder. */
  readonly folder: string
  readonly store: 'sqlite' | 'memory' | 'etcd'
  readonly startedMs: number
}

/** Records a server. Disposing the result removes the record. */
export function recordRunning(running: RunningServer, index: string | undefined): Disposable {
  if (index === undefined) return { [Symbol.dispose]: () => undefined }
  const path = join(index, `${running.pid}.json`)
  // The file is written in one step, so that readers never get an incomplete record.
  const draft = `${path}.draft`
  try {
    makeFolders(index, 0o700)
    writeFileSync(draft, JSON.stringify({ ...running, mark: platform.startOf(running.pid) }), {
      mode: 0o600,
    })
    renameSync(draft, path)
  } catch (cause) {
    throw folderError(index, cause, 'set XDG_CACHE_HOME to a writable folder')
  }
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
}

/**
 * Returns the running servers, the oldest first. Removes the records of processes that have exited.
 * A record that cannot be read may have been written by another version of Keelson. It is kept as
 * long as its process runs.
 */
export function listRunning(index: string): RunningServer[] {
  const found = filesIn(index).flatMap((name) => {
    const path = join(index, name)
    const read = readRunning(readIfThere(path) ?? '')
    if (read !== undefined && isRunning(read)) return [read.running]
    if (read !== undefined || platform.startOf(Number.parseInt(name, 10)) === '')
      rmSync(path, { force: true })
    return []
  })
  return found.toSorted((a, b) => a.startedMs - b.startedMs)
}

function filesIn(index: string): string[] {
  try {
    return readdirSync(index).filter((name) => /^\d+\.json$/.test(name))
  } catch {
    // The folder does not exist, because this user has never started a server.
    return []
  }
}

type RecordedServer = { readonly running: RunningServer; readonly mark: string }

function readRunning(text: string): RecordedServer | undefined {
  try {
    const fields = fieldsOf(JSON.parse(text))
    const { pid, startedMs, store } = fields
    if (typeof pid !== 'number' || typeof startedMs !== 'number') return undefined
    const kind = store === 'memory' || store === 'etcd' ? store : 'sqlite'
    const running = {
      pid,
      startedMs,
      store: kind,
      url: textOf(fields['url']),
      folder: textOf(fields['folder']),
    } as const
    return { running, mark: textOf(fields['mark']) }
  } catch {
    // Another version of Keelson, or another program, has written this file.
    return undefined
  }
}

/**
 * Whether the recorded process is still running, and is not another process that has received the
 * same ID.
 */
const isRunning = ({ running, mark }: RecordedServer): boolean => {
  const now = platform.startOf(running.pid)
  return now !== '' && now === mark
}
