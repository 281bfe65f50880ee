/** Reloads files that are renewed while the server runs, so that it need not be restarted. */
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../lib/log.ts'

/** As kube-apiserver, which also reads its files once a minute, whatever the file system reports. */
const LOOK_MS = 60_000
/** Files are renewed together, and each causes several events: they are read this long after the last one. */
const SETTLE_MS = 100

export type FollowedFile = { readonly path: string; readonly text: string }

export type FileReloaderParts = {
  /** Called with the new contents of the files, in their order; throws if they cannot be used. */
  readonly use: (texts: readonly string[]) => void
  /** The name of the files in the log. */
  readonly what: string
  readonly log: Log
  readonly lookMs?: number
}

export class FileReloader implements Disposable {
  readonly #paths: readonly string[]
  readonly #parts: FileReloaderParts
  readonly #timer: NodeJS.Timeout
  readonly #watchers: readonly FSWatcher[]
  #settling: NodeJS.Timeout | undefined
  #current: readonly string[]
  #looking: Promise<void> = Promise.resolve()

  constructor(files: readonly FollowedFile[], parts: FileReloaderParts) {
    this.#paths = files.map(({ path }) => path)
    this.#current = files.map(({ text }) => text)
    this.#parts = parts
    this.#timer = setInterval(() => void this.look(), parts.lookMs ?? LOOK_MS).unref()
    // Folders are watched, since a file may be replaced by a rename, or be a symlink through a folder that is, as in volumes of
    // pods.
    const folders = [...new Set(this.#paths.map((path) => dirname(path)))]
    this.#watchers = folders.flatMap((folder) => this.#follow(folder))
  }

  /**
   * Never fails: contents that cannot be used are logged, and the server goes on with what it has. One check after the other, or an
   * earlier one could replace what a later one has read.
   */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  async #look(): Promise<void> {
    const { use, what, log } = this.#parts
    const [path] = this.#paths
    try {
      const texts = await Promise.all(this.#paths.map((one) => readFile(one, 'utf8')))
      if (texts.every((text, at) => text === this.#current[at])) return
      // Throws if only one of two files that belong together has been written yet: the next check finds both.
      use(texts)
      this.#current = texts
      log('info', `${what} was renewed`, { path })
    } catch (error) {
      log('warn', `${what} was renewed but cannot be used yet`, { path, error: String(error) })
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    clearTimeout(this.#settling)
    for (const watcher of this.#watchers) watcher.close()
  }

  /** No watcher if the file system does not support it: then there is the interval. */
  #follow(folder: string): FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        clearTimeout(this.#settling)
        this.#settling = setTimeout(() => void this.look(), SETTLE_MS).unref()
      })
      watcher.on('error', () => watcher.close())
      return [watcher]
    } catch (error) {
      this.#parts.log('debug', 'a folder cannot be watched', { folder, error: String(error) })
      return []
    }
  }
}
