/**
 * Reads and writes the recordings: one file per scenario file, one line per scenario, sorted by id.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from './json.ts'
import { isRecordedStep, type RecordedStep } from './recorded.ts'
import type { FiledScenario } from './scenarios.ts'

export type Book = Map<string, readonly RecordedStep[]>

/**
 * The part of the recordings that the runner uses: it reads the steps of a scenario and stores new
 * ones.
 */
export interface RecordingStore {
  stepsOf(scenario: FiledScenario): readonly RecordedStep[] | undefined
  keep(scenario: FiledScenario, steps: readonly RecordedStep[]): void
  /** Writes the files that have changed. */
  save(): void
}

export class Recordings implements RecordingStore {
  readonly #directory: string
  readonly #books = new Map<string, Book>()
  readonly #changed = new Set<string>()

  constructor(directory: string = join(import.meta.dirname, 'recordings')) {
    this.#directory = directory
  }

  stepsOf({ file, id }: FiledScenario): readonly RecordedStep[] | undefined {
    return this.#book(file).get(id)
  }

  keep({ file, id }: FiledScenario, steps: readonly RecordedStep[]): void {
    this.#book(file).set(id, steps)
    this.#changed.add(file)
  }

  save(): void {
    for (const file of this.#changed) writeFileSync(this.#path(file), formatBook(this.#book(file)))
    this.#changed.clear()
  }

  #path(file: string): string {
    return join(this.#directory, `${file}.json`)
  }

  #book(file: string): Book {
    const known = this.#books.get(file)
    if (known !== undefined) return known
    const path = this.#path(file)
    const book: Book = existsSync(path) ? parseBook(readFileSync(path, 'utf8'), path) : new Map()
    this.#books.set(file, book)
    return book
  }
}

export function parseBook(text: string, path: string): Book {
  const parsed: unknown = JSON.parse(text)
  if (!isRecord(parsed))
    throw new Error(`${path} has no recordings: restore it from git or record it again`)
  const book: Book = new Map()
  for (const [id, steps] of Object.entries(parsed)) {
    if (!Array.isArray(steps) || !steps.every(isRecordedStep))
      throw new Error(
        `${path}: the recording of ${id} is not a list of steps: record it again with --only ${id}`,
      )
    book.set(id, steps)
  }
  return book
}

export function formatBook(book: Book): string {
  const lines = [...book]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, steps]) => `${JSON.stringify(id)}: ${JSON.stringify(steps)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
