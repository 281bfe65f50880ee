/**
 * Results that are stored between runs, so that a long list can be run in parts, and two servers
 * can be compared.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Outcome } from './junit.ts'

export class Results {
  readonly #file: string
  #outcomes: Map<string, Outcome>

  constructor(file: string) {
    this.#file = file
    this.#outcomes = this.#read()
  }

  get(name: string): Outcome | undefined {
    return this.#outcomes.get(name)
  }

  /**
   * Stores a result. Writes the file immediately, because the run can be interrupted at any time.
   * Reads the file again before that, because another run might have written to it.
   */
  keep(outcome: Outcome): void {
    this.#outcomes = this.#read()
    this.#outcomes.set(outcome.name, outcome)
    mkdirSync(dirname(this.#file), { recursive: true })
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, JSON.stringify([...this.#outcomes.values()], undefined, 1))
    renameSync(draft, this.#file)
  }

  #read(): Map<string, Outcome> {
    const kept: Outcome[] = existsSync(this.#file)
      ? JSON.parse(readFileSync(this.#file, 'utf8'))
      : []
    return new Map(kept.map((outcome) => [outcome.name, outcome]))
  }
}
