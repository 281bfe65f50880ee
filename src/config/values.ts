/**
 * The values of flags, converted to their types. A value that cannot be converted is an error with
 * Go's text.
 */
import { isIP } from 'node:net'
import { parseDuration } from '../lib/time/duration.ts'
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import { parseCsv } from './csv.ts'
import { readTextFile } from './files/read-file.ts'
import type { Flag } from './flag.ts'
import type { FlagName } from './flags.ts'

/** What is read of the table of flags. */
export type FlagTable<Name extends string> = { readonly [name in Name]: Pick<Flag, 'default'> }

export class Values<Name extends string = FlagName> {
  readonly faults: string[]
  /** What to do about a fault whose text is upstream's and does not say it. */
  readonly hints: string[] = []
  readonly #table: FlagTable<Name>
  /** Not by `Name`, so that the values of more flags can be given where those of fewer are read. */
  readonly #raw: ReadonlyMap<string, readonly string[]>

  constructor(
    table: FlagTable<Name>,
    raw: ReadonlyMap<Name, readonly string[]>,
    faults: readonly string[],
  ) {
    this.#table = table
    this.#raw = raw
    this.faults = [...faults]
  }

  isGiven(name: Name): boolean {
    return this.#raw.has(name)
  }

  /**
   * Whether the first flag was given, and after the other if that was, too: of two names for one
   * value the last counts.
   */
  isGivenAfter(name: Name, other: Name): boolean {
    const names = [...this.#raw.keys()]
    return names.indexOf(name) > names.indexOf(other)
  }

  fault(text: string, hint?: string): void {
    this.faults.push(text)
    if (hint !== undefined) this.hints.push(hint)
  }

  /** The value cannot be parsed: the same text as Go's flags have. */
  refuse(name: Name, why: string): void {
    this.#refuse(name, why)
  }

  /**
   * If the flag is repeated, the last value counts; empty if there is neither a value nor a
   * default.
   */
  string(name: Name): string {
    return this.#raw.get(name)?.at(-1) ?? this.#table[name].default ?? ''
  }

  /** All values, each split at its commas, without blank ones; without any value, the default. */
  list(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => value.split(',')).filter((value) => value !== '')
  }

  /**
   * The same as Go's flags of lists do it: a value is a line of CSV, with quotes, and blank
   * elements are kept.
   */
  slice(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => {
      if (value === '') return []
      // What follows the first line is not read.
      const { rows, fault = 'EOF' } = parseCsv(value)
      const [row] = rows
      if (row === undefined) this.#refuse(name, fault, value)
      return row ?? []
    })
  }

  /** The texts that were given, or the default. */
  raw(name: Name): readonly string[] {
    return this.#raw.get(name) ?? [this.#table[name].default ?? '']
  }

  /** One value each time that the flag is given. */
  array(name: Name): readonly string[] {
    return this.#raw.get(name) ?? []
  }

  boolean(name: Name): boolean {
    const text = this.string(name)
    const value = parseGoBoolean(text)
    if (value === undefined)
      this.#refuse(name, `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`)
    return value ?? false
  }

  integer(name: Name): number {
    const text = this.string(name)
    const value = parseGoInteger(text)
    if (typeof value === 'number') return value
    this.#refuse(name, `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${value}`)
    // Outside of no bounds: it is reported once.
    return Number.NaN
  }

  /** As `integer`, for flags of Go's own package, which does not say what is wrong. */
  plainInteger(name: Name): number {
    const value = parseGoInteger(this.string(name))
    if (typeof value === 'number') return value
    this.#refuse(name, value === 'invalid syntax' ? 'parse error' : value)
    return 0
  }

  float(name: Name): number {
    const text = this.string(name)
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
    this.#refuse(name, `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`)
    return Number.NaN
  }

  /** An integer that is not negative. */
  count(name: Name): number {
    const value = this.integer(name)
    if (value < 0) this.fault(`--${name} can not be negative value`)
    return value
  }

  durationMs(name: Name, { isNegativeFault = false } = {}): number {
    const parsed = parseDuration(this.string(name))
    if ('fault' in parsed) {
      this.#refuse(name, parsed.fault)
      return 0
    }
    if (isNegativeFault && parsed.ms < 0) this.fault(`--${name} can not be negative value`)
    return parsed.ms
  }

  /** Empty if the flag is not set. As with Go's flags, a zone is no part of an address. */
  address(name: Name): string {
    const text = this.string(name)
    const value = text.trim()
    if (value === '' && !this.isGiven(name)) return ''
    if (isIP(value) === 0 || value.includes('%'))
      this.#refuse(name, `failed to parse IP: ${JSON.stringify(text)}`)
    return value
  }

  /**
   * The content of the file that the flag names; empty if there is none, or if it cannot be read,
   * which is an error: with upstream's words `before` it, if there are any.
   */
  file(name: Name, before?: string): string {
    return this.#read(name, this.string(name), before)
  }

  /** The path of a file that is readable; its content is read later, perhaps more than once. */
  path(name: Name, before?: string): string {
    this.file(name, before)
    return this.string(name)
  }

  #read(name: Name, path: string, before?: string): string {
    if (path === '') return ''
    const read = readTextFile(path)
    if ('text' in read) return read.text
    const advice = 'give the path of a readable file'
    if (before === undefined) this.fault(`--${name}: ${read.fault}: ${advice}`)
    else this.fault(`${before}: ${read.fault}`, `--${name}: ${advice}`)
    return ''
  }

  #refuse(name: Name, why: string, value = this.string(name)): void {
    this.fault(`invalid argument ${JSON.stringify(value)} for "--${name}" flag: ${why}`)
  }
}

/** As integers of Go: 16, 0x10, 020, 0o20, 0b1_0000. */
const goInteger =
  /^([+-]?)(?:(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|[1-9](?:_?[0-9])*)|(0(?:_?[0-7])*))$/
const INTEGER_BITS = 64

function parseGoInteger(text: string): number | 'invalid syntax' | 'value out of range' {
  const [, sign = '', digits = '', octal = ''] = goInteger.exec(text) ?? []
  const plain = (digits || (octal && `0o${octal}`)).replaceAll('_', '')
  if (plain === '') return 'invalid syntax'
  const value = sign === '-' ? -BigInt(plain) : BigInt(plain)
  return BigInt.asIntN(INTEGER_BITS, value) === value ? Number(value) : 'value out of range'
}
