/** Writes events to the audit log: those that come while others are being written are written together. */
import type { AuditLog } from '../config/audit.ts'
import type { Timer, Timers } from '../lib/timers.ts'
import type { EventSink, Urgency } from './backend.ts'
import type { AuditEvent } from './event.ts'
import type { ReportLost } from './lost.ts'

/** Where lines go: a file, or standard output. They come without newlines. */
export interface Lines {
  readonly append: (lines: readonly string[]) => Promise<void>
  readonly close: () => Promise<void>
}

/** If the disk is slower than requests come, events wait in memory up to this number of characters; further ones are lost. */
const WAITING_CHARACTERS_MAX = 64 << 20

/** What is recorded in these turns of the event loop is written by one write, which costs more than printing an event. */
const GATHERED_TURNS = 3
/** How long an event for which nobody waits may wait for one that somebody waits for, to be written with it. */
const LINGER_MS = 20

export type LogSinkOptions = Pick<AuditLog, 'format'> & {
  readonly timers: Pick<Timers, 'soon' | 'after'>
  readonly reportLost: ReportLost
}

export class LogSink implements EventSink {
  readonly #lines: Lines
  readonly #format: AuditLog['format']
  readonly #reportLost: ReportLost
  readonly #timers: LogSinkOptions['timers']
  #waiting: AuditEvent[] = []
  #waitingCharacters = 0
  #written = Promise.withResolvers<boolean>()
  #writing: Promise<void> | undefined
  #lingering: Timer | undefined

  constructor(lines: Lines, { format, reportLost, timers }: LogSinkOptions) {
    this.#lines = lines
    this.#format = format
    this.#reportLost = reportLost
    this.#timers = timers
  }

  store(events: readonly AuditEvent[], urgency: Urgency): Promise<boolean> {
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
      this.#reportLost('log', events, 'the disk is too slow: too many events wait to be written')
      return Promise.resolve(false)
    }
    for (const event of events) {
      this.#waiting.push(event)
      this.#waitingCharacters += event.json.length
    }
    const { promise } = this.#written
    if (urgency === 'now') this.#writing ??= this.#write()
    else this.#lingering ??= this.#timers.after(LINGER_MS, () => this.#endLingering())
    return promise
  }

  async close(): Promise<void> {
    this.#lingering?.close()
    if (this.#waiting.length > 0) this.#writing ??= this.#write()
    await this.#writing
    await this.#lines.close()
  }

  #endLingering(): void {
    this.#lingering = undefined
    if (this.#waiting.length > 0) this.#writing ??= this.#write()
  }

  /** Turns take longer the more requests there are, so more of them share a write; without others they take no time. */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHERED_TURNS; turn++) {
      await new Promise<void>((resolve) => this.#timers.soon(resolve))
    }
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather()
      const events = this.#waiting
      const { resolve } = this.#written
      this.#waiting = []
      this.#waitingCharacters = 0
      this.#written = Promise.withResolvers()
      try {
        await this.#lines.append(events.map((event) => (this.#format === 'json' ? event.json : event.line())))
        resolve(true)
      } catch (error) {
        this.#reportLost('log', events, error instanceof Error ? error.message : String(error))
        resolve(false)
      }
    }
    this.#writing = undefined
  }
}
