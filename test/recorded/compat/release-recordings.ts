/**
 * Recordings of a release other than 1.33. They contain only the changes against the recordings of
 * 1.33: one file per scenario file, one line per scenario, sorted by id. A scenario without changes
 * has an empty list. A scenario without a line was not recorded on the release.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyChanges, type Change, changesBetween } from './changes.ts'
import { sortManagedFields } from './diff.ts'
import { isRecord, type Json } from './json.ts'
import { isRecordedStep, type RecordedStep } from './recorded.ts'
import { Recordings, type RecordingStore } from './recordings.ts'
import type { FiledScenario } from './scenarios.ts'

/** Releases with recordings, by their minor version. */
export const recordedReleases: readonly number[] = [33, 34, 35, 36, 37]

/** The release whose recordings contain complete responses. */
export const baseRelease = 33

export type ChangedScenario = {
  readonly id: string
  /** The recording of 1.33 to which the changes apply. */
  readonly base: Json
  readonly changes: readonly Change[]
}

/**
 * The changes of a scenario in another release. `base` is a digest of the recording of 1.33 to
 * which they apply.
 */
type ReleaseEntry = { readonly base: string; readonly changes: readonly Change[] }

export type ReleaseBook = Map<string, ReleaseEntry>

export const releaseDirectory = (release: number): string =>
  join(import.meta.dirname, 'releases', `1.${release}`)

export const openRecordings = (release: number): RecordingStore =>
  release === baseRelease ? new Recordings() : new ReleaseRecordings(releaseDirectory(release))

export class ReleaseRecordings implements RecordingStore {
  readonly #directory: string
  readonly #base: RecordingStore
  readonly #books = new Map<string, ReleaseBook>()
  readonly #changed = new Set<string>()

  constructor(directory: string, base: RecordingStore = new Recordings()) {
    this.#directory = directory
    this.#base = base
  }

  stepsOf(scenario: FiledScenario): readonly RecordedStep[] | undefined {
    const entry = this.#book(scenario.file).get(scenario.id)
    const base = this.#comparableBase(scenario)
    if (entry === undefined || base === undefined) return undefined
    if (entry.changes.length > 0 && entry.base !== digestOf(base))
      throw new Error(
        `the recording of ${scenario.id} on 1.33 has changed: record it again on the other releases`,
      )
    return stepsIn(applyChanges(base, entry.changes))
  }

  /**
   * Returns how the recording of a scenario differs from that of 1.33. Returns undefined if the
   * scenario was not recorded on this release.
   */
  changesOf(scenario: FiledScenario): ChangedScenario | undefined {
    const entry = this.#book(scenario.file).get(scenario.id)
    const base = this.#comparableBase(scenario)
    if (entry === undefined || base === undefined) return undefined
    return { id: scenario.id, base, changes: entry.changes }
  }

  keep(scenario: FiledScenario, steps: readonly RecordedStep[]): void {
    const base = this.#comparableBase(scenario)
    if (base === undefined)
      throw new Error(`${scenario.id} has no recording of 1.33: record it on 1.33 first`)
    const changes = changesBetween(base, comparable(scenario, steps))
    this.#book(scenario.file).set(scenario.id, { base: digestOf(base), changes })
    this.#changed.add(scenario.file)
  }

  save(): void {
    mkdirSync(this.#directory, { recursive: true })
    for (const file of this.#changed)
      writeFileSync(this.#path(file), formatReleaseBook(this.#book(file)))
    this.#changed.clear()
  }

  #comparableBase(scenario: FiledScenario): Json | undefined {
    const steps = this.#base.stepsOf(scenario)
    return steps && comparable(scenario, steps)
  }

  #path(file: string): string {
    return join(this.#directory, `${file}.json`)
  }

  #book(file: string): ReleaseBook {
    const known = this.#books.get(file)
    if (known !== undefined) return known
    const path = this.#path(file)
    const book: ReleaseBook = existsSync(path)
      ? parseReleaseBook(readFileSync(path, 'utf8'), path)
      : new Map()
    this.#books.set(file, book)
    return book
  }
}

/** Returns the steps of a recording in the form in which two releases are compared. */
const comparable = ({ times }: FiledScenario, steps: readonly RecordedStep[]): Json =>
  times ? [...steps] : sortManagedFields([...steps])

const digestOf = (base: Json): string =>
  createHash('sha256').update(JSON.stringify(base)).digest('hex').slice(0, 12)

function stepsIn(value: Json): readonly RecordedStep[] {
  if (!Array.isArray(value) || !value.every(isRecordedStep))
    throw new Error('the changes of a recording do not result in a list of steps')
  return value
}

export function parseReleaseBook(text: string, path: string): ReleaseBook {
  const parsed: unknown = JSON.parse(text)
  if (!isRecord(parsed)) throw new Error(`${path} has no recordings: restore it from git`)
  const book: ReleaseBook = new Map()
  for (const [id, entry] of Object.entries(parsed)) {
    if (!Array.isArray(entry)) throw new Error(`${path}: the entry of ${id} is not a list`)
    const [base = '', ...changes]: readonly unknown[] = entry
    if (typeof base !== 'string' || !changes.every(isChange))
      throw new Error(`${path}: the entry of ${id} is not a digest with changes`)
    book.set(id, { base, changes })
  }
  return book
}

const isChange = (value: unknown): value is Change =>
  isRecord(value) && typeof value['at'] === 'string'

export function formatReleaseBook(book: ReleaseBook): string {
  const lines = [...book]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { base, changes }]) => {
      const entry = changes.length === 0 ? [] : [base, ...changes]
      return `${JSON.stringify(id)}: ${JSON.stringify(entry)}`
    })
  return `{\n${lines.join(',\n')}\n}\n`
}
