/** One process at a time has a data folder. The lock is the kernel's: it goes with the process, however that ends. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const lockFile = 'lock.sqlite'
const ownerFile = 'owner'

/** Fails with the name of the process that has it. Node locks no files by itself, SQLite does: an empty database stands for the folder. */
export function lockFolder(folder: string): Disposable {
  const lock = new DatabaseSync(join(folder, lockFile))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    throw new Error(`${folder} is in use by ${ownerOf(folder)}: stop it, or choose another --data-dir`, { cause })
  }
  writeFileSync(join(folder, ownerFile), `${process.pid}\n`)
  return { [Symbol.dispose]: () => lock.close() }
}

function ownerOf(folder: string): string {
  try {
    return `process ${readFileSync(join(folder, ownerFile), 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}
