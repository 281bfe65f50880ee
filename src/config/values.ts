/** The values of flags, converted to their types. A value that cannot be converted is an error with Go's text. */
import { isIP } from 'node:net'
import { parseDuration } from '../lib/duration.ts'
import { readTextFile } from './files/read-file.ts'
import type { Flag } from './flag.ts'
import type { FlagName } from './flags.ts'

/** What is read of the table of flags. */
export type FlagTable<Name extends string> = { readonly [name in Name]: Pick<Flag, 'default'> }

export class Values<Name extends string = FlagName> {
  readonly faults: string[]
  readonly #table: FlagTable<Name>
  /** Not by `Name`, so that the values of more flags can be given where those of fewer are read. */
  readonly #raw: ReadonlyMap<string, readonly string[]>

  constructor(table: FlagTable<Name>, raw: ReadonlyMap<Name, readonly string[]>, faults: readonly string[]) {
    this.#table = table
    this.#raw = raw
    this.faults = [...faults]
  }

  isGiven(name: Name): boolean {
    return this.#raw.has(name)
  }

  fault(text: string): void {
    this.faults.push(text)
  }

  /** If the flag is repeated, the last value counts; empty if there is neither a value nor a default. */
  string(name: Name): string {
    return this.#raw.get(name)?.at(-1) ?? this.#table[name].default ?? ''
  }

  /** All values, each of which may be a comma-separated list; without any, the default. */
  list(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => value.split(',')).filter((value) => value !== '')
  }

  /** The same, but blank values are kept. */
  slice(name: Name): string[] {
    const given = this.#raw.get(name) ?? [this.#table[name].default ?? '']
    return given.flatMap((value) => (value === '' ? [] : value.split(',')))
  }

  /** One value each time that the flag is given. */
  array(name: Name): readonly string[] {
    return this.#raw.get(name) ?? []
  }

  boolean(name: Name): boolean {
    const text = this.string(name)
    if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
    if (!/^(0|f|F|false|FALSE|False)$/.test(text))
      this.#refuse(name, `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`)
    return false
  }

  integer(name: Name): number {
    const text = this.string(name)
    if (!/^[+-]?\d+$/.test(text)) {
      this.#refuse(name, `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
      return 0
    }
    if (Number.isSafeInteger(Number(text))) return Number(text)
    this.#refuse(name, `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
    return 0
  }

  float(name: Name): number {
    const text = this.string(name)
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
    this.#refuse(name, `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`)
    // Outside of no bounds: it is reported once.
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

  /** Empty if the flag is not set. */
  address(name: Name): string {
    const value = this.string(name)
    if (value !== '' && isIP(value) === 0) this.#refuse(name, `failed to parse IP: ${JSON.stringify(value)}`)
    return value
  }

  /** The content of the file that the flag names; empty if there is none, or if it cannot be read, which is an error. */
  file(name: Name): string {
    return this.#read(name, this.string(name))
  }

  /** The path of a file that is readable; its content is read later, perhaps more than once. */
  path(name: Name): string {
    this.file(name)
    return this.string(name)
  }

  #read(name: Name, path: string): string {
    if (path === '') return ''
    const read = readTextFile(path)
    if ('text' in read) return read.text
    this.fault(`--${name}: ${read.fault}: give the path of a readable file`)
    return ''
  }

  #refuse(name: Name, why: string): void {
    this.fault(`invalid argument ${JSON.stringify(this.string(name))} for "--${name}" flag: ${why}`)
  }
}
