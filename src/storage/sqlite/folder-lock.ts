/**
 * One process at a time has a data folder. The lock is the kernel's: it goes with the process,
 * however that ends.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolders } from '../../lib/process/files.ts'

const lockFile = 'lock.sqlite'
const ownerFile = 'owner'
/** Secrets are in the folder. */
const MODE = 0o600
const FOLDER_MODE = 0o700
/** SQLite's result code. */
const BUSY = 5

/** The file of the store in its folder. */
export const fileIn = (folder: string): string => join(folder, 'keelson.sqlite')

/** SQLite's log, which is there while the file is open. */
export const logIn = (folder: string): string => `${fileIn(folder)}-wal`

/** Whether the folder has ever been locked. */
export const hasLock = (folder: string): boolean => existsSync(join(folder, lockFile))

/**
 * A folder that is new is durable only when its parent was flushed: so are all that were made for
 * it.
 */
export function makeFolder(folder: string): void {
  const made = makeFolders(folder, FOLDER_MODE)
  if (made === undefined) return
  const last = dirname(resolve(made))
  let parent = resolve(folder)
  do {
    parent = dirname(parent)
    flushFolder(parent)
  } while (parent !== last && parent !== dirname(parent))
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Fails with the name of the process that has it. Node locks no files by itself, SQLite does: an
 * empty database stands for the folder.
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
 * For its owner alone; SQLite gives its other files the same mode. A file that is there is not
 * opened: closing it would take the locks of this process from it.
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
    // A full disk, for example: what is stored can be served all the same. The name is for a
    // message.
  }
}

function ownerOf(folder: string): string {
  try {
    return readFileSync(join(folder, ownerFile), 'utf8').trim()
  } catch {
    return 'another process'
  }
}
