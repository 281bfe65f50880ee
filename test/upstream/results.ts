/**
 * The last result of each test on a server, in a committed file. A line consists of `pass`, `fail`
 * or `skip`, the package and the test. A test that passes on kube-apiserver does not depend on a
 * server in its own process. Keelson must pass such a test.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerKind } from './options.ts'
import type { Verdict } from './outcome.ts'

const heads: Readonly<Record<ServerKind, string>> = {
  reference:
    '# What kube-apiserver v1.33.4 answers, as a process outside of the tests: npm run integration -- --reference writes it.',
  keelson:
    '# What Keelson answered when each test was run last: npm run integration writes it, and --table counts it.',
}

export class Results {
  readonly #head: string
  readonly #path: string
  #results: Map<string, Verdict>

  constructor(server: ServerKind, folder: string = import.meta.dirname) {
    this.#head = heads[server]
    this.#path = join(folder, `${server}.txt`)
    this.#results = read(this.#path)
  }

  /** Returns the verdict, or undefined if the test has never run. */
  of(name: string, test: string): Verdict | undefined {
    return this.#results.get(keyOf(name, test))
  }

  /** Returns the tests of a package that passed. */
  passed(name: string): string[] {
    const start = keyOf(name, '')
    return [...this.#results]
      .filter(([key, verdict]) => verdict === 'pass' && key.startsWith(start))
      .map(([key]) => key.slice(start.length))
  }

  /**
   * Records a verdict. Reads the file again first, because runs of other packages might have
   * written to it.
   */
  record(name: string, test: string, verdict: Verdict): void {
    this.#results = read(this.#path).set(keyOf(name, test), verdict)
    const lines = [...this.#results].map(([key, result]) => ({ key, line: `${result}\t${key}` }))
    const sorted = lines.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ line }) => line)
    const draft = `${this.#path}.${process.pid}`
    writeFileSync(draft, `${[this.#head, ...sorted].join('\n')}\n`)
    renameSync(draft, this.#path)
  }
}

function read(path: string): Map<string, Verdict> {
  const results = new Map<string, Verdict>()
  if (!existsSync(path)) return results
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [verdict = '', name = '', test = ''] = line.split('\t')
    if (verdict === 'pass' || verdict === 'fail' || verdict === 'skip')
      results.set(keyOf(name, test), verdict)
  }
  return results
}

const keyOf = (name: string, test: string): string => `${name}\t${test}`
