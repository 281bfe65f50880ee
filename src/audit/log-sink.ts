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
/**
 * Of events that are written together: joined and encoded they take less than a millisecond. An event that has more is written alone, so
 * one that fits into no file, which has a megabyte at least, takes no other with it.
 */
const GROUP_CHARACTERS_MAX = 256 << 10

/** What is recorded in these turns of the event loop is written by one write, which costs more than printing an event. */
const GATHERED_TURNS = 3
/** How long an event for which nobody waits may wait for one that somebody waits for, to be written with it. */
const LINGER_MS = 20

export type LogSinkOptions = Pick<AuditLog, 'format'> & {
  readonly timers: Pick<Timers, 'soon' | 'after'>
  readonly reportLost: ReportLost
}

/** Events that are written together, and whether they were. */
type Group = { readonly events: AuditEvent[]; characters: number; readonly written: PromiseWithResolvers<boolean> }

export class LogSink implements EventSink {
  readonly #lines: Lines
  readonly #format: AuditLog['format']
  readonly #reportLost: ReportLost
  readonly #timers: LogSinkOptions['timers']
  /** In their order; the last one may take more events. */
  readonly #groups: Group[] = []
  #waitingCharacters = 0
  #writing: Promise<void> | undefined
  #lingering: Timer | undefined
  #isClosed = false

  constructor(lines: Lines, { format, reportLost, timers }: LogSinkOptions) {
    this.#lines = lines
    this.#format = format
    this.#reportLost = reportLost
    this.#timers = timers
  }

  store(events: readonly AuditEvent[], urgency: Urgency): Promise<boolean> {
    if (this.#isClosed) {
      this.#reportLost('log', events, 'audit backend shut down')
      return Promise.resolve(false)
    }
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
      this.#reportLost('log', events, 'the disk is too slow: too many events wait to be written')
      return Promise.resolve(false)
    }
    const groups = new Set(events.map((event) => this.#add(event)))
    if (urgency === 'now') this.#writing ??= this.#write()
    else this.#lingering ??= this.#timers.after(LINGER_MS, () => this.#endLingering())
    return areAllWritten([...groups])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#lingering?.close()
    if (this.#groups.length > 0) this.#writing ??= this.#write()
    await this.#writing
    await this.#lines.close()
  }

  #endLingering(): void {
    this.#lingering = undefined
    if (this.#groups.length > 0) this.#writing ??= this.#write()
  }

  /** Turns take longer the more requests there are, so more of them share a write; without others they take no time. */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHERED_TURNS; turn++) {
      await new Promise<void>((resolve) => this.#timers.soon(resolve))
    }
  }

  #add(event: AuditEvent): Group {
    const { length } = event.json
    this.#waitingCharacters += length
    const last = this.#groups.at(-1)
    if (last !== undefined && last.characters + length <= GROUP_CHARACTERS_MAX) {
      last.events.push(event)
      last.characters += length
      return last
    }
    const group: Group = { events: [event], characters: length, written: Promise.withResolvers() }
    this.#groups.push(group)
    return group
  }

  async #write(): Promise<void> {
    while (this.#groups.length > 0) {
      // Others may join the last group.
      if (this.#groups.length === 1) await this.#gather()
      const group = this.#groups.shift()
      if (group === undefined) break
      this.#waitingCharacters -= group.characters
      const { events, written } = group
      try {
        await this.#lines.append(events.map((event) => (this.#format === 'json' ? event.json : event.line())))
        written.resolve(true)
      } catch (error) {
        this.#reportLost('log', events, error instanceof Error ? error.message : String(error))
        written.resolve(false)
      }
    }
    this.#writing = undefined
  }
}

function areAllWritten([first, ...others]: readonly Group[]): Promise<boolean> {
  if (first === undefined) return Promise.resolve(true)
  if (others.length === 0) return first.written.promise
  return Promise.all([first, ...others].map(({ written }) => written.promise)).then((all) => all.every(Boolean))
}
