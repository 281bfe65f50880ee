/** Results that are kept from one run to the next, so that a long list may be asked in slices, and of one server beside another. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Outcome } from './junit.ts'

export class Results {
  readonly #file: string
  readonly #outcomes: Map<string, Outcome>

  constructor(file: string) {
    this.#file = file
    const kept: Outcome[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
    this.#outcomes = new Map(kept.map((outcome) => [outcome.name, outcome]))
  }

  get(name: string): Outcome | undefined {
    return this.#outcomes.get(name)
  }

  /** Written at once, since a run may be ended at any time. */
  keep(outcome: Outcome): void {
    this.#outcomes.set(outcome.name, outcome)
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(`${this.#file}.new`, JSON.stringify([...this.#outcomes.values()], undefined, 1))
    renameSync(`${this.#file}.new`, this.#file)
  }
}
