/**
 * Locks a folder, so that only one `keelson dev` runs in it. If a server was killed, its etcd may
 * still run and lock the data. The next server terminates that etcd, after checking that the
 * process ID belongs to the etcd of this folder.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { platform } from '../../lib/platform/current-platform.ts'
import { orExplain, readIfThere } from '../../lib/process/files.ts'
import { lockFolder } from '../../storage/sqlite/folder-lock.ts'
import { type DataFolder, folderAdvice } from './data-folder.ts'

const STOP_MS_MAX = 10_000
const POLL_MS = 20

/** Locks the folder. Fails if another server is running in it. */
export async function claimFolder(folder: DataFolder): Promise<Disposable> {
  using owned = new DisposableStack()
  try {
    owned.use(lockFolder(folder.path))
  } catch (cause) {
    if (!String(cause).includes('is in use by')) {
      orExplain(folder.path, folderAdvice, () => {
        throw cause
      })
    }
    const owner = /process \d+/.exec(String(cause))?.[0] ?? 'another process'
    throw new Error(
      `keelson dev already runs in ${folder.path} (${owner}): stop it with keelson stop --data-dir=${folder.path}, or choose another --data-dir`,
      { cause },
    )
  }
  await endLeftEtcd(folder)
  return owned.move()
}

const etcdFile = (folder: DataFolder): string => join(folder.path, 'etcd.pid')

export const recordEtcd = (folder: DataFolder, pid: number): void =>
  writeFileSync(etcdFile(folder), `${pid}\n`)
export const forgetEtcd = (folder: DataFolder): void => rmSync(etcdFile(folder), { force: true })

async function endLeftEtcd(folder: DataFolder): Promise<void> {
  const pid = readPid(etcdFile(folder))
  const isOurs = (): boolean =>
    pid !== undefined && platform.commandOf(pid).includes(`--data-dir=${folder.etcdData}`)
  if (pid === undefined || !isOurs()) return
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; isOurs() && waitedMs < STOP_MS_MAX; waitedMs += POLL_MS)
    await sleep(POLL_MS)
  if (isOurs())
    throw new Error(
      `an etcd of an earlier run (process ${pid}) uses ${folder.etcdData} and does not stop: end it with kill -9`,
    )
}

function readPid(path: string): number | undefined {
  const pid = Number(readIfThere(path) ?? '')
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
}
