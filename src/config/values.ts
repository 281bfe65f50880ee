/**
 * Converts the values of flags to their types. A value that cannot be converted causes an error
 * with Go's message.
 */
import { isIP } from 'node:net'
import { parseDuration } from '../lib/time/duration.ts'
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import { parseCsv } from './csv.ts'
import { readTextFile } from './files/read-file.ts'
import type { Flag } from './flag.ts'
import type { FlagName } from './flags.ts'

/** The part of the flag table that this file uses. */
export type FlagTable<Name extends string> = { readonly [name in Name]: Pick<Flag, 'default'> }

export class Values<Name extends string = FlagName> {
  readonly faults: string[]
  /** Advice on fixing errors. kube-apiserver's messages often lack such advice. */
  readonly hints: string[] = []
  readonly #table: FlagTable<Name>
  /**
   * The raw values by flag name. The keys are of the type `string`, because the map may contain
   * flags that this table does not have.
   */
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
   * Whether `name` is set, and `other` is not set or comes before it on the command line. Use this
   * for two flags that are names of the same setting, where the last one takes precedence.
   */
  isGivenAfter(name: Name, other: Name): boolean {
    const names = [...this.#raw.keys()]
    return names.indexOf(name) > names.indexOf(other)
  }

  fault(text: string, hint?: string): void {
    this.faults.push(text)
    if (hint !== undefined) this.hints.push(hint)
  }

  /** Reports that the value cannot be parsed, with the message of Go's flag package. */
  refuse(name: Name, why: string): void {
    this.#refuse(name, why)
  }

  /**
   * Returns the last value of the flag, or its default. If the flag has neither, returns an empty
   * string.
   */
  string(name: Name): string {
    return this.#raw.get(name)?.at(-1) ?? this.#table[name].default ?? ''
  }

  /**
   * Returns all values, split at commas and without empty elements. Returns the default if the flag
   * is not set.
   */
  list(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => value.split(',')).filter((value) => value !== '')
  }

  /**
   * Returns all values like `list`, but parsed as Go parses its list flags: each value is a line of
   * CSV, and empty elements are kept.
   */
  slice(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => {
      if (value === '') return []
      // If the value has several lines, Go ignores all but the first one.
      const { rows, fault = 'EOF' } = parseCsv(value)
      const [row] = rows
      if (row === undefined) this.#refuse(name, fault, value)
      return row ?? []
    })
  }

  /** Returns the values without any conversion, or the default if the flag is not set. */
  raw(name: Name): readonly string[] {
    return this.#raw.get(name) ?? [this.#table[name].default ?? '']
  }

  /** Returns one value for each occurrence of the flag on the command line. */
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
    // Comparisons with NaN return false, so the range checks do not report a second error.
    return Number.NaN
  }

  /**
   * Like `integer`, but for flags that are parsed by Go's flag package. The errors of this package
   * are less detailed.
   */
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

  /** Returns an integer. A negative integer is reported as an error. */
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

  /**
   * Returns an IP address, or an empty string if the flag is not set. As in Go, an address with a
   * zone is invalid.
   */
  address(name: Name): string {
    const text = this.string(name)
    const value = text.trim()
    if (value === '' && !this.isGiven(name)) return ''
    if (isIP(value) === 0 || value.includes('%'))
      this.#refuse(name, `failed to parse IP: ${JSON.stringify(text)}`)
    return value
  }

  /**
   * Returns the content of the file that the flag names, or an empty string if the flag is not set.
   * If the file cannot be read, reports an error and returns an empty string. `before` is the
   * prefix of the error in kube-apiserver.
   */
  file(name: Name, before?: string): string {
    return this.#read(name, this.string(name), before)
  }

  /**
   * Returns the path of a file. If the file cannot be read, reports an error. The caller reads the
   * content later.
   */
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

/** Integers in the syntax of Go: 16, 0x10, 020, 0o20, 0b1_0000. */
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
