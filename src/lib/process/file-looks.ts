/**
 * Decides when files that may be renewed are read again: shortly after the file system reports a
 * change, and in any case once a minute. Only one check runs at a time, because an earlier check
 * could otherwise overwrite the result of a later one.
 */
import { watch } from 'node:fs'
import { dirname } from 'node:path'
import { systemTimers, type Timer, type Timers } from '../time/timers.ts'

/** Interval of the checks, as in kube-apiserver. */
const LOOK_MS = 60_000
/**
 * Delay after the last event. Several files are often renewed together, and each of them causes
 * several events of the file system.
 */
const SETTLE_MS = 100

export type FileLooksOptions = {
  readonly lookMs?: number
  readonly timers?: Timers
  /**
   * Calls `onChange` when anything in a folder changes. Throws if the file system does not support
   * this.
   */
  readonly watchFolder?: (folder: string, onChange: () => void) => Timer
  /**
   * Called for a folder whose changes the file system cannot report. The files in this folder are
   * still checked once per interval.
   */
  readonly onUnwatched?: (folder: string, error: unknown) => void
  /** Called when a check fails. A failed check does not prevent later ones. */
  readonly onFailed?: (error: unknown) => void
}

export class FileLooks implements Disposable {
  readonly #look: () => Promise<void>
  readonly #onFailed: ((error: unknown) => void) | undefined
  readonly #timers: Timers
  readonly #timer: Timer
  readonly #watchers: readonly Timer[]
  #settling: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(paths: readonly string[], look: () => Promise<void>, options: FileLooksOptions = {}) {
    const {
      lookMs = LOOK_MS,
      timers = systemTimers,
      watchFolder = watchOnDisk,
      onUnwatched,
      onFailed,
    } = options
    this.#look = look
    this.#onFailed = onFailed
    this.#timers = timers
    this.#timer = timers.every(lookMs, () => void this.look())
    // Watches folders instead of files. A file can be replaced by a rename, or its path can contain
    // a symlink to a folder that is replaced, as in volumes of pods.
    const folders = [...new Set(paths.map((path) => dirname(path)))]
    this.#watchers = folders.flatMap((folder) => {
      try {
        return [watchFolder(folder, () => this.#settle())]
      } catch (error) {
        onUnwatched?.(folder, error)
        return []
      }
    })
  }

  /** Checks the files again, after the checks that are in progress. Never rejects. */
  look(): Promise<void> {
    this.#looking = this.#looking
      .then(() => (this.#isOver ? undefined : this.#look()))
      .catch((error: unknown) => this.#onFailed?.(error))
    return this.#looking
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#timer.close()
    this.#settling?.close()
    for (const watcher of this.#watchers) watcher.close()
  }

  #settle(): void {
    this.#settling?.close()
    this.#settling = this.#timers.after(SETTLE_MS, () => void this.look())
  }
}

function watchOnDisk(folder: string, onChange: () => void): Timer {
  const watcher = watch(folder, { persistent: false }, onChange)
  watcher.on('error', () => watcher.close())
  return watcher
}
