/**
 * Reloads a configuration file when it changes. An invalid file is reported once, and the old
 * configuration stays in use. If a file cannot be read, or its configuration cannot be applied yet,
 * the reload is retried.
 */
import { formatDuration } from '../../lib/time/duration.ts'
import { messageOf } from '../../lib/errors.ts'
import { FileLooks, type FileLooksOptions } from '../../lib/process/file-looks.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { type Clock, systemClock } from '../../lib/time/clock.ts'
import { withTimeout, systemTimers } from '../../lib/time/timers.ts'
import type { FileRead } from './config-file.ts'
import { goFileError } from './go-file-error.ts'
import { rereadBytes } from './read-file.ts'

/**
 * Maximum time to apply a configuration, as in kube-apiserver. An authentication configuration is
 * not applied before its issuers have responded.
 */
const USE_MS_MAX = 60_000

/**
 * The number of reloads with each status, and the time of the last one. The metrics
 * `automatic_reloads_total` and `automatic_reload_last_timestamp_seconds` have these values.
 */
export type Reloads = {
  readonly success: ReloadCount
  readonly failure: ReloadCount
}

type ReloadCount = {
  readonly count: number
  /** Unix time of the last reload. 0 means that the file was never reloaded. */
  readonly lastSeconds: number
}

export type ConfigReloaderOptions<T> = {
  readonly read: (bytes: Buffer) => Promise<FileRead<T>>
  /**
   * Applies the new configuration. If this fails, the function is called again after the next check
   * of the file. `signal` is aborted on timeout or when the reloader is disposed. The configuration
   * must not be applied after that.
   */
  readonly use: (value: T, signal: AbortSignal) => Promise<void> | void
  /** Name of the configuration in log messages, such as `authentication config`. */
  readonly what: string
  readonly log: Log
  readonly clock?: Clock
  readonly looks?: FileLooksOptions
  readonly readBytes?: (path: string) => Promise<Buffer>
}

export class ConfigReloader<T> implements Disposable {
  readonly #path: string
  readonly #options: ConfigReloaderOptions<T>
  readonly #looks: FileLooks
  /**
   * The content of the file that was last processed: it was either applied, or reported as invalid.
   * A file with the same content is not processed again.
   */
  #seen: Buffer
  readonly #ended = new AbortController()
  #reloads: Reloads = {
    success: { count: 0, lastSeconds: 0 },
    failure: { count: 0, lastSeconds: 0 },
  }

  /** Watches a file. `bytes` is the content that is currently in use. */
  constructor(path: string, bytes: Buffer, options: ConfigReloaderOptions<T>) {
    this.#path = path
    this.#seen = bytes
    this.#options = options
    this.#looks = new FileLooks([path], () => this.#checkOnce(), {
      onFailed: (error) => this.#fail(`failed to load ${options.what}`, messageOf(error)),
      ...options.looks,
    })
    // Check the file now, because it could have changed before the watch started.
    void this.check()
  }

  get reloads(): Reloads {
    return this.#reloads
  }

  check(): Promise<void> {
    return this.#looks.look()
  }

  async #checkOnce(): Promise<void> {
    const { read, what, log, readBytes = rereadBytes } = this.#options
    let bytes: Buffer
    try {
      bytes = await readBytes(this.#path)
    } catch (error) {
      return this.#fail(`failed to read ${what} file`, goFileError('open', this.#path, error))
    }
    if (bytes.equals(this.#seen)) return
    const result = await read(bytes)
    if (this.#ended.signal.aborted) return
    if ('fault' in result) {
      this.#seen = bytes
      return this.#fail(
        `failed to ${result.stage === 'decoding' ? 'load' : 'validate'} ${what}`,
        result.fault,
      )
    }
    try {
      await this.#use(result.value)
    } catch (error) {
      return this.#fail(`failed to update ${what}`, messageOf(error))
    }
    this.#seen = bytes
    this.#count('success')
    log('info', `reloaded ${what}`, { path: this.#path })
  }

  async #use(value: T): Promise<void> {
    const { use, looks } = this.#options
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    const late = (): never => {
      abort()
      throw new Error(`it could not be used within ${formatDuration(USE_MS_MAX)}`)
    }
    this.#ended.signal.addEventListener('abort', abort)
    try {
      const using = (async () => use(value, controller.signal))()
      await withTimeout(using, USE_MS_MAX, {
        onTimeout: late,
        timers: looks?.timers ?? systemTimers,
      })
    } finally {
      this.#ended.signal.removeEventListener('abort', abort)
    }
  }

  #fail(message: string, error: string): void {
    this.#count('failure')
    this.#options.log('error', message, { path: this.#path, error })
  }

  #count(status: keyof Reloads): void {
    const { clock = systemClock } = this.#options
    const counted = { count: this.#reloads[status].count + 1, lastSeconds: clock.wallMs() / 1000 }
    this.#reloads = { ...this.#reloads, [status]: counted }
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
    this.#looks[Symbol.dispose]()
  }
}
