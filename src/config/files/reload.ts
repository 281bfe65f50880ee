/**
 * Follows a configuration file that may change while the server runs. A new file that is wrong is told once and leaves the one that is in
 * use; one that cannot be read, or cannot be put to use yet, is tried again.
 */
import { readFile } from 'node:fs/promises'
import { FileLooks, type FileLooksOptions } from '../../lib/file-looks.ts'
import type { Log } from '../../lib/log.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { FileRead } from './config-file.ts'
import { goFileError } from './go-file-error.ts'

/** For the metrics `automatic_reloads_total` and `automatic_reload_last_timestamp_seconds`, by status. */
export type Reloads = {
  readonly success: ReloadCount
  readonly failure: ReloadCount
}

type ReloadCount = { readonly count: number /** 0: never. */; readonly lastSeconds: number }

export type ConfigReloaderParts<T> = {
  readonly read: (bytes: Buffer) => FileRead<T>
  /** Puts the new configuration to use; when it fails the old one stays, and it is called again with the next look. */
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
  /** What was looked at last and need not be looked at again. */
  #seen: Buffer
  #reloads: Reloads = { success: { count: 0, lastSeconds: 0 }, failure: { count: 0, lastSeconds: 0 } }

  /** `bytes`: of the file that is in use. */
  constructor(path: string, bytes: Buffer, parts: ConfigReloaderParts<T>) {
    this.#path = path
    this.#seen = bytes
    this.#parts = parts
    this.#looks = new FileLooks([path], () => this.#look(), parts.looks)
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
    const result = read(bytes)
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
