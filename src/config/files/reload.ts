/**
 * Reloads a configuration file that changes while the server runs. An invalid file is reported once, and the old configuration stays in
 * use; a file that cannot be read, or a configuration that cannot be used yet, is retried.
 */
import { readFile } from 'node:fs/promises'
import { FileLooks, type FileLooksOptions } from '../../lib/file-looks.ts'
import type { Log } from '../../lib/log.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { FileRead } from './config-file.ts'
import { goFileError } from './go-file-error.ts'

/** The values of the metrics `automatic_reloads_total` and `automatic_reload_last_timestamp_seconds`, by status. */
export type Reloads = {
  readonly success: ReloadCount
  readonly failure: ReloadCount
}

type ReloadCount = { readonly count: number /** 0: never. */; readonly lastSeconds: number }

export type ConfigReloaderParts<T> = {
  readonly read: (bytes: Buffer) => Promise<FileRead<T>>
  /** Uses the new configuration. If it fails, it is called again with the next check. */
  readonly use: (value: T) => Promise<void> | void
  /** What the log calls it: `authentication config`. */
  readonly what: string
  readonly log: Log
  readonly clock?: Clock
  readonly looks?: FileLooksOptions
  readonly readBytes?: (path: string) => Promise<Buffer>
}

export class ConfigReloader<T> implements Disposable {
  readonly #path: string
  readonly #parts: ConfigReloaderParts<T>
  readonly #looks: FileLooks
  /** The last content that needs no further check. */
  #seen: Buffer
  #reloads: Reloads = { success: { count: 0, lastSeconds: 0 }, failure: { count: 0, lastSeconds: 0 } }

  /** `bytes`: the content that is in use. */
  constructor(path: string, bytes: Buffer, parts: ConfigReloaderParts<T>) {
    this.#path = path
    this.#seen = bytes
    this.#parts = parts
    this.#looks = new FileLooks([path], () => this.#look(), parts.looks)
    // The file may have changed before it was watched.
    void this.look()
  }

  get reloads(): Reloads {
    return this.#reloads
  }

  look(): Promise<void> {
    return this.#looks.look()
  }

  async #look(): Promise<void> {
    const { read, use, what, log, readBytes = readFile } = this.#parts
    let bytes: Buffer
    try {
      bytes = await readBytes(this.#path)
    } catch (error) {
      return this.#fail(`failed to read ${what} file`, goFileError('open', this.#path, error))
    }
    if (bytes.equals(this.#seen)) return
    const result = await read(bytes)
    if ('fault' in result) {
      this.#seen = bytes
      return this.#fail(`failed to ${result.stage === 'decoding' ? 'load' : 'validate'} ${what}`, result.fault)
    }
    try {
      await use(result.value)
    } catch (error) {
      return this.#fail(`failed to update ${what}`, error instanceof Error ? error.message : String(error))
    }
    this.#seen = bytes
    this.#count('success')
    log('info', `reloaded ${what}`, { path: this.#path })
  }

  #fail(message: string, error: string): void {
    this.#count('failure')
    this.#parts.log('error', message, { path: this.#path, error })
  }

  #count(status: keyof Reloads): void {
    const { clock = systemClock } = this.#parts
    const counted = { count: this.#reloads[status].count + 1, lastSeconds: clock.wallMs() / 1000 }
    this.#reloads = { ...this.#reloads, [status]: counted }
  }

  [Symbol.dispose](): void {
    this.#looks[Symbol.dispose]()
  }
}
