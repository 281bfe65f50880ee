/** Follows files that others renew while the server runs: who does need not restart it. */
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../lib/log.ts'

/** As kube-apiserver, which looks at its files once a minute too, whatever the file system tells. */
const LOOK_MS = 60_000
/** Files are renewed together, and each is told more than once: the last word counts. */
const SETTLE_MS = 100

export type FollowedFile = { readonly path: string; readonly text: string }

export type FileReloaderParts = {
  /** Called with what the files have become, in their order; fails when that is of no use. */
  readonly use: (texts: readonly string[]) => void
  /** What the log calls them. */
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
    // Folders, since a file may be replaced by another one, or be a link through a folder that is, as in volumes of pods.
    const folders = [...new Set(this.#paths.map((path) => dirname(path)))]
    this.#watchers = folders.flatMap((folder) => this.#follow(folder))
  }

  /**
   * Never fails: what cannot be used is told to the operator, and the server goes on with what it has. One look after the other,
   * or what an earlier one has read would replace what a later one has.
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
      // Fails when only one of two files that belong together has been written yet: the next look finds both.
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

  /** None where the file system cannot tell: then there is the interval. */
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
