/**
 * Tests that do not have to pass here yet: `feature`, package, test. A test that fails, passes on
 * the reference and is not listed is a fault. Of the features that begin with "on purpose"
 * README.md says why.
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

  /** The feature that a test waits for. Undefined: it has to pass. */
  of(name: string, test: string): string | undefined {
    return this.#features.get(`${name}\t${test}`)
  }

  /** Tests of a package that wait. */
  tests(name: string): string[] {
    const start = `${name}\t`
    return [...this.#features.keys()]
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length))
  }
}
