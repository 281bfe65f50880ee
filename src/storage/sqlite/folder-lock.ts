/**
 * Ensures that only one process at a time uses a data folder. The lock belongs to the kernel, so it
 * is released when the process ends for any reason.
 */
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { platform } from '../../lib/platform/current-platform.ts'
import { makeFolders } from '../../lib/process/files.ts'

const lockFile = 'lock.sqlite'
const ownerFile = 'owner'
/** Permissions of files and folders. They are strict, because the files contain secrets. */
const MODE = 0o600
const FOLDER_MODE = 0o700
/** SQLite's result code SQLITE_BUSY, which means that another process has locked the database. */
const BUSY = 5

/** Returns the path of the store's file in its folder. */
export const fileIn = (folder: string): string => join(folder, 'keelson.sqlite')

/** Returns the path of SQLite's log, which exists while the file is open. */
export const logIn = (folder: string): string => `${fileIn(folder)}-wal`

/** Whether the folder has ever been locked. */
export const hasLock = (folder: string): boolean => existsSync(join(folder, lockFile))

/**
 * Creates a folder. A new folder is durable only after its parent has been flushed, so the parents
 * of all created folders are flushed.
 */
export function makeFolder(folder: string): void {
  const made = makeFolders(folder, FOLDER_MODE)
  if (made === undefined) return
  const last = dirname(resolve(made))
  let parent = resolve(folder)
  do {
    parent = dirname(parent)
    platform.flushFolder(parent)
  } while (parent !== last && parent !== dirname(parent))
}

/**
 * Locks a folder. If another process has the lock, the error message names that process. Node.js
 * cannot lock files, but SQLite can, so the lock is that of an empty database in the folder.
 */
export function lockFolder(folder: string): Disposable {
  makeFile(join(folder, lockFile))
  const lock = new DatabaseSync(join(folder, lockFile))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw cause
    throw new Error(
      `${folder} is in use by ${ownerOf(folder)}: stop it, or choose another --data-dir`,
      { cause },
    )
  }
  recordOwner(folder)
  return { [Symbol.dispose]: () => lock.isOpen && lock.close() }
}

/**
 * Creates a file that only its owner can access. SQLite uses the same mode for its other files. An
 * existing file is not opened, because closing it would release the locks that this process has on
 * it.
 */
export function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', MODE))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === BUSY

function recordOwner(folder: string): void {
  try {
    writeFileSync(join(folder, ownerFile), `process ${process.pid} on ${hostname()}\n`, {
      mode: MODE,
    })
  } catch {
    // Ignore the error, because stored data can be served even if, for example, the disk is full.
    // The file is needed only for the error message that other processes show.
  }
}

function ownerOf(folder: string): string {
  try {
    return readFileSync(join(folder, ownerFile), 'utf8').trim()
  } catch {
    return 'another process'
  }
}
