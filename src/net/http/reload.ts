/**
 * Reloads files that are renewed while the server runs, so that the server does not need to be
 * restarted.
 */
import { readFile } from 'node:fs/promises'
import { FileLooks } from '../../lib/process/file-looks.ts'
import type { Log } from '../../lib/telemetry/log.ts'

export type WatchedFile = { readonly path: string; readonly text: string }

export type FileReloaderOptions = {
  /**
   * Called with the new contents of the files, in the order of the files. Must throw if the
   * contents cannot be used; the previous contents then stay in use.
   */
  readonly use: (texts: readonly string[]) => void
  /** Name of the files in log messages. */
  readonly what: string
  readonly log: Log
  readonly lookMs?: number
}

export class FileReloader implements Disposable {
  readonly #paths: readonly string[]
  readonly #options: FileReloaderOptions
  readonly #looks: FileLooks
  #current: readonly string[]

  constructor(files: readonly WatchedFile[], options: FileReloaderOptions) {
    this.#paths = files.map(({ path }) => path)
    this.#current = files.map(({ text }) => text)
    this.#options = options
    this.#looks = new FileLooks(this.#paths, () => this.#checkOnce(), {
      ...(options.lookMs === undefined ? {} : { lookMs: options.lookMs }),
      onUnwatched: (folder, error) =>
        options.log('debug', 'a folder cannot be watched', { folder, error: String(error) }),
      onFailed: (error) =>
        options.log('error', `${options.what} cannot be checked`, { error: String(error) }),
    })
  }

  /** The path of the first file, and the contents of it that are currently used. */
  get first(): WatchedFile {
    return { path: this.#paths[0] ?? '', text: this.#current[0] ?? '' }
  }

  /**
   * Checks the files. Never rejects: if the new contents cannot be used, logs the error and
   * continues with the previous ones.
   */
  check(): Promise<void> {
    return this.#looks.look()
  }

  async #checkOnce(): Promise<void> {
    const { use, what, log } = this.#options
    const [path] = this.#paths
    try {
      const texts = await Promise.all(this.#paths.map((one) => readFile(one, 'utf8')))
      if (texts.every((text, at) => text === this.#current[at])) return
      // Two files that belong together can be read while only one of them is renewed. `use` then
      // throws, and the next check reads both files again.
      use(texts)
      this.#current = texts
      log('info', `${what} was renewed`, { path })
    } catch (error) {
      log('warn', `${what} was renewed but cannot be used yet`, { path, error: String(error) })
    }
  }

  [Symbol.dispose](): void {
    this.#looks[Symbol.dispose]()
  }
}
