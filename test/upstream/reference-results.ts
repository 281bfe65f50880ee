/**
 * What the reference answered to each test, committed: `pass`, `fail` or `skip`, the package, the test. What passes there is what can be
 * tested from outside at all, and what Keelson is measured by.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from './outcome.ts'

const file = join(import.meta.dirname, 'reference.txt')
const head =
  '# What kube-apiserver v1.33.4 answers, as a process outside of the tests: npm run integration -- --reference writes it.'

export class ReferenceResults {
  readonly #results = new Map<string, Verdict>()

  constructor(path: string = file) {
    if (!existsSync(path)) return
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const [verdict = '', name = '', test = ''] = line.split('\t')
      if (verdict === 'pass' || verdict === 'fail' || verdict === 'skip') this.#results.set(keyOf(name, test), verdict)
    }
  }

  /** Undefined: it was never asked. */
  of(name: string, test: string): Verdict | undefined {
    return this.#results.get(keyOf(name, test))
  }

  set(name: string, test: string, verdict: Verdict): void {
    this.#results.set(keyOf(name, test), verdict)
  }

  save(path: string = file): void {
    const lines = [...this.#results].map(([key, verdict]) => ({ key, line: `${verdict}\t${key}` }))
    const sorted = lines.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ line }) => line)
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, `${[head, ...sorted].join('\n')}\n`)
    renameSync(draft, path)
  }
}

const keyOf = (name: string, test: string): string => `${name}\t${test}`
