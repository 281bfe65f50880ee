/** The destination of log lines: readable text for a terminal, or JSON otherwise. */
import type { Writable } from 'node:stream'
import type { Clock } from '../time/clock.ts'
import type { Level, Log } from './log.ts'
import { DETAILS, type Verbosity } from './verbosity.ts'

export type LogOptions = {
  readonly format: 'text' | 'json'
  /** Debug lines are logged only if the verbosity is at least DETAILS. */
  readonly verbosity: Verbosity
  readonly clock: Clock
  readonly write: (line: string) => void
  readonly hasColours?: boolean
}

/**
 * Maximum number of bytes that are buffered while the reader of the log is slow. When this limit is
 * reached, lines are dropped.
 */
const UNREAD_BYTES_MAX = 8 << 20

/**
 * Maximum length of a text in a log entry. A client can send paths, ids and names of a megabyte; a
 * stack trace has a few thousand characters.
 */
const TEXT_CHARACTERS_MAX = 8_192

type Fields = Record<string, unknown>

export class LogSink {
  readonly #options: LogOptions

  constructor(options: LogOptions) {
    this.#options = options
  }

  readonly log: Log = (level, message, fields = {}, module) => {
    const { verbosity, write, format } = this.#options
    if (level === 'debug' && !verbosity.isOn(DETAILS, module)) return
    write(
      format === 'json'
        ? this.#asJson(level, message, fields)
        : this.#asText(level, message, fields),
    )
  }

  #now(): string {
    return new Date(this.#options.clock.wallMs()).toISOString()
  }

  #asJson(level: Level, message: string, fields: Fields): string {
    return `${JSON.stringify({ level, time: this.#now(), ...fields, message }, bounded)}\n`
  }

  #asText(level: Level, message: string, fields: Fields): string {
    const time = this.#now().slice(11, 23)
    const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${showValue(value)}`)
    const word = level === 'info' ? '' : `${level.toUpperCase()} `
    const colour = this.#options.hasColours ? colours[level] : ''
    return `${colour}${time} ${word}${message}${colour === '' ? '' : plain}${shown.join('')}\n`
  }
}

/**
 * Returns a function that writes lines to a stream without waiting. If the reader of a pipe is slow
 * or has exited, or if the disk is full, lines are lost without an error.
 */
export function linesTo(stream: Writable): (line: string) => void {
  stream.on('error', () => undefined)
  return (line) => {
    if (stream.writableLength <= UNREAD_BYTES_MAX) stream.write(line)
  }
}

const colours: { readonly [level in Level]: string } = {
  debug: '\u001b[2m',
  info: '',
  warn: '\u001b[33m',
  error: '\u001b[31m',
}
const plain = '\u001b[0m'

/** A replacer for JSON.stringify that truncates long strings. */
function bounded<T>(_key: string, value: T): T | string {
  if (typeof value !== 'string' || value.length <= TEXT_CHARACTERS_MAX) return value
  return `${value.slice(0, TEXT_CHARACTERS_MAX)}… (${value.length} characters)`
}

/**
 * Formats a value. The value is quoted if it is empty or contains whitespace, quotes or control
 * characters, so that an entry stays on one line.
 */
export function showValue(value: unknown): string {
  const text =
    typeof value === 'string'
      ? bounded('', value)
      : (JSON.stringify(value, bounded) ?? String(value))
  return /^[^\s"\p{Cc}\p{Cf}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text))
}

/**
 * Escapes control characters. Clients choose paths and names, and a terminal must not execute parts
 * of them as commands or display them in another order.
 */
const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
