/** Writes events to the audit log: those that come while others are being written are written together. */
import type { AuditLog } from '../config/audit.ts'
import type { EventSink } from './backend.ts'
import type { AuditEvent } from './event.ts'
import type { ReportLost } from './lost.ts'

/** Where lines go: a file, or standard output. */
export interface Lines {
  readonly append: (lines: readonly string[]) => Promise<void>
  readonly close: () => Promise<void>
}

/** If the disk is slower than requests come, events wait in memory up to this number of characters; further ones are lost. */
const WAITING_CHARACTERS_MAX = 64 << 20

export class LogSink implements EventSink {
  readonly #lines: Lines
  readonly #format: AuditLog['format']
  readonly #reportLost: ReportLost
  #waiting: AuditEvent[] = []
  #waitingCharacters = 0
  #written = Promise.withResolvers<boolean>()
  #writing: Promise<void> | undefined

  constructor(lines: Lines, { format, reportLost }: Pick<AuditLog, 'format'> & { readonly reportLost: ReportLost }) {
    this.#lines = lines
    this.#format = format
    this.#reportLost = reportLost
  }

  store(events: readonly AuditEvent[]): Promise<boolean> {
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
      this.#reportLost('log', events, 'the disk is too slow: too many events wait to be written')
      return Promise.resolve(false)
    }
    for (const event of events) {
      this.#waiting.push(event)
      this.#waitingCharacters += event.json.length
    }
    const { promise } = this.#written
    this.#writing ??= this.#write()
    return promise
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#lines.close()
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const events = this.#waiting
      const { resolve } = this.#written
      this.#waiting = []
      this.#waitingCharacters = 0
      this.#written = Promise.withResolvers()
      try {
        await this.#lines.append(events.map((event) => `${this.#format === 'json' ? event.json : event.line()}\n`))
        resolve(true)
      } catch (error) {
        this.#reportLost('log', events, error instanceof Error ? error.message : String(error))
        resolve(false)
      }
    }
    this.#writing = undefined
  }
}
