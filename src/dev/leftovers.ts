/**
 * One `keelson dev` per folder. One that was killed leaves its etcd running, which locks the data: the next one ends that etcd by
 * its process ID, after checking that it is the etcd of this folder.
 */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfThere } from '../lib/read-if-there.ts'
import type { DataFolder } from './data-folder.ts'

const STOP_MS_MAX = 10_000
const POLL_MS = 20

/** Fails if another one runs in the folder. `release` is to be called at the end. */
export async function claimFolder(folder: DataFolder): Promise<{ readonly release: () => void }> {
  const ownFile = join(folder.path, 'dev.pid')
  const other = readPid(ownFile)
  if (other !== undefined && other !== process.pid && /keelson|main\.[jt]s/.test(commandOf(other))) {
    throw new Error(
      `keelson dev runs in ${folder.path} already (process ${other}): stop it, or choose another --data-dir`,
    )
  }
  await endLeftEtcd(folder)
  writeFileSync(ownFile, `${process.pid}\n`)
  return { release: () => rmSync(ownFile, { force: true }) }
}

const etcdFile = (folder: DataFolder): string => join(folder.path, 'etcd.pid')

export const noteEtcd = (folder: DataFolder, pid: number): void => writeFileSync(etcdFile(folder), `${pid}\n`)
export const forgetEtcd = (folder: DataFolder): void => rmSync(etcdFile(folder), { force: true })

async function endLeftEtcd(folder: DataFolder): Promise<void> {
  const pid = readPid(etcdFile(folder))
  const isOurs = (): boolean => pid !== undefined && commandOf(pid).includes(`--data-dir=${folder.etcdData}`)
  if (pid === undefined || !isOurs()) return
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; isOurs() && waitedMs < STOP_MS_MAX; waitedMs += POLL_MS) await sleep(POLL_MS)
  if (isOurs()) throw new Error(`an etcd of an earlier run (process ${pid}) holds ${folder.etcdData} and does not end`)
}

function readPid(path: string): number | undefined {
  const pid = Number(readIfThere(path) ?? '')
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
}

/** The command line of a process; empty if there is no such process. */
function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', `${pid}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    // ps fails when there is no such process.
    return ''
  }
}
