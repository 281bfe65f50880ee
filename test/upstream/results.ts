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
  readonly #path: string
  #results: Map<string, Verdict>

  constructor(path: string = file) {
    this.#path = path
    this.#results = read(path)
  }

  /** Undefined: it was never asked. */
  of(name: string, test: string): Verdict | undefined {
    return this.#results.get(keyOf(name, test))
  }

  /** Tests of a package that pass there. */
  passed(name: string): string[] {
    const start = keyOf(name, '')
    return [...this.#results]
      .filter(([key, verdict]) => verdict === 'pass' && key.startsWith(start))
      .map(([key]) => key.slice(start.length))
  }

  /** Reads the file again: runs of other packages may have written meanwhile. */
  record(name: string, test: string, verdict: Verdict): void {
    this.#results = read(this.#path).set(keyOf(name, test), verdict)
    const lines = [...this.#results].map(([key, result]) => ({ key, line: `${result}\t${key}` }))
    const sorted = lines.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ line }) => line)
    const draft = `${this.#path}.${process.pid}`
    writeFileSync(draft, `${[head, ...sorted].join('\n')}\n`)
    renameSync(draft, this.#path)
  }
}

function read(path: string): Map<string, Verdict> {
  const results = new Map<string, Verdict>()
  if (!existsSync(path)) return results
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [verdict = '', name = '', test = ''] = line.split('\t')
    if (verdict === 'pass' || verdict === 'fail' || verdict === 'skip') results.set(keyOf(name, test), verdict)
  }
  return results
}

const keyOf = (name: string, test: string): string => `${name}\t${test}`
