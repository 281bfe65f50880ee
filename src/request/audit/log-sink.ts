/**
 * Writes events to the audit log. Events that arrive during a write are combined into the next
 * write.
 */
import type { AuditLog } from '../../config/audit.ts'
import { NEWLINE } from '../../lib/bytes/ascii.ts'
import { ByteText } from '../../lib/bytes/byte-text.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Timer, Timers } from '../../lib/time/timers.ts'
import type { EventSink, Urgency } from './backend.ts'
import type { AuditEvent } from './event.ts'
import { legacyLine } from './legacy-line.ts'
import type { LostEvent, ReportLost } from './lost.ts'

/**
 * Destination of the lines: a file, or standard output. Each line ends in a newline. The caller
 * must not change the buffers before the returned promise settles.
 */
export interface Lines {
  readonly append: (lines: Buffer) => Promise<void>
  /** Appends one line, which consists of several pieces. */
  readonly appendLong: (pieces: readonly Buffer[]) => Promise<void>
  /**
   * Number of bytes that should be written without waiting for further lines. Absent if a larger
   * write is always better.
   */
  readonly fullBytes?: number
  readonly close: () => Promise<void>
}

/**
 * Maximum size of an event that is written together with others. A longer event is written alone,
 * because it might exceed the maximum size of a file, which is at least a megabyte. Its failure
 * must not affect other events.
 */
const LONG_BYTES = 128 << 10
/**
 * Maximum size of a group of events that are written together. A group accepts events as long as it
 * is smaller than `LONG_BYTES`, so one more event of up to that size always fits.
 */
const GROUP_BYTES = 2 * LONG_BYTES
/**
 * Maximum number of group buffers that are retained for reuse. Later events of a request copy parts
 * of its earlier events, until the buffer of the earlier events is reused.
 */
const SPARES_MAX = 4

/**
 * Minimum and maximum number of ticks of the event loop whose events are written together. A write
 * costs as much as serializing twenty events. After the minimum, the wait ends at the first tick
 * without new events.
 */
const GATHERED_TURNS_MIN = 3
const GATHERED_TURNS_MAX = 8
/**
 * Maximum delay of an event for which no request waits. Because of the delay, the event can be
 * written together with an event for which a request waits.
 */
const LINGER_MS = 20

export type LogSinkOptions = Pick<AuditLog, 'format'> & {
  readonly timers: Pick<Timers, 'defer' | 'after'>
  readonly reportLost: ReportLost
  /**
   * Maximum size of the events that wait in memory if the disk is slower than requests arrive.
   * Further events are lost.
   */
  readonly waitingBytesMax: number
}

/**
 * Events that are written together, and the result of the write. Events are encoded as they arrive.
 * If they were first joined to long strings, garbage collection would take longer than serializing
 * them.
 */
type Group = {
  /**
   * The only event of the group, if it is a long event. Other events are stored only in their
   * encoded form. The original is needed only if the event is lost, which is rare.
   */
  long: AuditEvent | undefined
  /** The pieces of a long event, which are not copied into `text`. */
  readonly pieces?: readonly Buffer[]
  readonly text: ByteText
  readonly written: PromiseWithResolvers<boolean>
}

export class LogSink implements EventSink {
  readonly isOrdered = true
  readonly #lines: Lines
  readonly #format: AuditLog['format']
  readonly #reportLost: ReportLost
  readonly #waitingBytesMax: number
  readonly #timers: LogSinkOptions['timers']
  /** Groups in the order in which they are written. The last group can accept more events. */
  readonly #groups: Group[] = []
  /** Buffers for reuse, the least recently used one first. */
  readonly #spares: ByteText[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  /**
   * Whether a write is due: a request waits for an event that has not been written, or the maximum
   * delay of an event has passed.
   */
  #isDue = false
  #lingering: Timer | undefined
  #isClosed = false

  constructor(lines: Lines, { format, reportLost, timers, waitingBytesMax }: LogSinkOptions) {
    this.#lines = lines
    this.#format = format
    this.#reportLost = reportLost
    this.#timers = timers
    this.#waitingBytesMax = waitingBytesMax
  }

  store(events: readonly AuditEvent[], urgency: Urgency): Promise<boolean> {
    if (this.#isClosed) {
      this.#reportLost('log', events, 'audit backend shut down')
      return Promise.resolve(false)
    }
    if (this.#waitingBytes > this.#waitingBytesMax) {
      this.#reportLost('log', events, 'the disk is too slow: too many events wait to be written')
      return Promise.resolve(false)
    }
    if (events.length === 0) return Promise.resolve(true)
    const only = events.length === 1 ? events[0] : undefined
    const written = only === undefined ? this.#addAll(events) : this.#add(only).written.promise
    if (urgency === 'now') this.#isDue = true
    if (this.#isDue || this.#isFull) this.#writing ??= this.#write()
    else this.#linger()
    return written
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#lingering?.close()
    this.#writeAll()
    await this.#writing
    await this.#lines.close()
  }

  get #isFull(): boolean {
    const { fullBytes = Infinity } = this.#lines
    return (this.#groups[0]?.text.length ?? 0) >= fullBytes
  }

  #linger(): void {
    this.#lingering ??= this.#timers.after(LINGER_MS, () => {
      this.#lingering = undefined
      this.#writeAll()
    })
  }

  #writeAll(): void {
    if (this.#groups.length === 0) return
    this.#isDue = true
    this.#writing ??= this.#write()
  }

  /**
   * Waits for more events to write together. With many concurrent requests, ticks of the event loop
   * take longer, so more requests share a write. Without other requests, ticks take almost no time.
   */
  #gather({ text }: Group): Promise<void> {
    return new Promise((resolve) => {
      let turns = 0
      let length = -1
      const look = (): void => {
        const isQuiet = turns >= GATHERED_TURNS_MIN && text.length === length
        if (isQuiet || turns === GATHERED_TURNS_MAX || this.#isFull) return resolve()
        turns++
        length = text.length
        this.#timers.defer(look)
      }
      look()
    })
  }

  #addAll(events: readonly AuditEvent[]): Promise<boolean> {
    const groups = new Set(events.map((event) => this.#add(event)))
    return Promise.all(Array.from(groups, ({ written }) => written.promise)).then((all) =>
      all.every(Boolean),
    )
  }

  #add(event: AuditEvent): Group {
    if (this.#format === 'json' && event.printedBytes > LONG_BYTES) return this.#addPieces(event)
    const last = this.#groups.at(-1)
    const isOpen = last !== undefined && last.pieces === undefined && last.text.length <= LONG_BYTES
    const group = isOpen ? last : this.#begin(this.#takeText())
    const { text } = group
    const start = text.length
    if (this.#format === 'json') event.print(text)
    else text.text(event.line())
    text.byte(NEWLINE)
    const bytes = text.length - start
    this.#waitingBytes += bytes
    if (bytes <= LONG_BYTES) return group
    const own = start === 0 ? group : this.#moveOut(text, start)
    own.long = event
    return own
  }

  #addPieces(event: AuditEvent): Group {
    const pieces = [...event.pieces(), newline]
    const group = { long: event, pieces, text: noText, written: Promise.withResolvers<boolean>() }
    this.#groups.push(group)
    this.#waitingBytes += bytesOf(group)
    return group
  }

  #begin(text: ByteText): Group {
    const group = { long: undefined, text, written: Promise.withResolvers<boolean>() }
    this.#groups.push(group)
    return group
  }

  #takeText(): ByteText {
    const text = this.#spares.shift()
    text?.clear()
    return text ?? new ByteText(GROUP_BYTES)
  }

  /** Moves a long event to its own group. */
  #moveOut(text: ByteText, start: number): Group {
    const own = new ByteText(text.length - start)
    own.copy(text, start, text.length)
    text.cut(start)
    return this.#begin(own)
  }

  #eventsIn({ long, text }: Group): readonly LostEvent[] {
    if (long !== undefined) return [long]
    const lines = text.bytes.toString().split('\n').slice(0, -1)
    return lines.map((line) => ({
      json: line,
      line: () => (this.#format === 'json' ? legacyLine(line) : line),
    }))
  }

  async #write(): Promise<void> {
    while (this.#groups.length > 0 && (this.#isDue || this.#isFull)) {
      // Wait for more events, because the last group is not full.
      const [first] = this.#groups
      if (first !== undefined && this.#groups.length === 1 && !this.#isFull)
        await this.#gather(first)
      const group = this.#groups.shift()
      if (group === undefined) break
      if (this.#groups.length === 0) this.#isDue = false
      const { text, pieces, written } = group
      this.#waitingBytes -= bytesOf(group)
      try {
        if (pieces === undefined) await this.#lines.append(text.bytes)
        else await this.#lines.appendLong(pieces)
        written.resolve(true)
      } catch (error) {
        this.#reportLost('log', this.#eventsIn(group), messageOf(error))
        written.resolve(false)
      }
      if (text.memory.length === GROUP_BYTES && this.#spares.length < SPARES_MAX)
        this.#spares.push(text)
    }
    this.#writing = undefined
    if (this.#groups.length > 0) this.#linger()
  }
}

const newline = Buffer.from('\n')
const noText = new ByteText(0)

const bytesOf = ({ pieces, text }: Group): number =>
  pieces === undefined ? text.length : pieces.reduce((sum, { length }) => sum + length, 0)
