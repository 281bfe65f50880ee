/**
 * Tests that do not have to pass yet, because Keelson lacks a feature. Each line of waits.txt
 * consists of the feature, the package and the test. A test that passes on kube-apiserver must also
 * pass on Keelson, unless it is listed. If the feature of a line begins with "on purpose",
 * README.md gives the reason.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dirname, 'waits.txt')

export class Waits {
  readonly #features = new Map<string, string>()

  constructor(path: string = file) {
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const [feature = '', name = '', test = ''] = line.split('\t')
      if (test !== '' && !line.startsWith('#')) this.#features.set(`${name}\t${test}`, feature)
    }
  }

  /** Returns the missing feature that a test needs, or undefined if the test must pass. */
  of(name: string, test: string): string | undefined {
    return this.#features.get(`${name}\t${test}`)
  }

  /** Returns the tests of a package that need a missing feature. */
  tests(name: string): string[] {
    const start = `${name}\t`
    return [...this.#features.keys()]
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length))
  }
}
