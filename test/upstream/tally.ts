/**
 * Counts results by package. Tests that need a missing feature (waits.ts) are also counted by
 * feature. Tests that do not pass on kube-apiserver are not counted.
 */
import type { Verdict } from './outcome.ts'

export type JudgedPackage = {
  readonly package: string
  readonly result: Verdict
  /** The verdict on kube-apiserver. Undefined if the test has never run on it. */
  readonly wanted: Verdict | undefined
  /** The missing feature that the test needs, if it is listed in waits.txt. */
  readonly waitsFor: string | undefined
}

type Counts = {
  reference: number
  passed: number
  failed: number
  readonly waits: Map<string, number>
}

const NOT_ASKED = 'it never ran on the reference: run it with --reference first'

const share = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(1)} %`
const byText = (a: string, b: string): number => (a < b ? -1 : 1)

export class Tally {
  readonly #packages = new Map<string, Counts>()

  /**
   * Counts a result. If the result does not simply count as passed or failed, returns a remark that
   * explains this. Otherwise returns an empty string.
   */
  add(judged: JudgedPackage): string {
    const { result, wanted, waitsFor } = judged
    if (wanted !== 'pass' && wanted !== undefined) return `reference: ${wanted}`
    const counts = this.#of(judged.package)
    if (wanted === 'pass') counts.reference++
    if (waitsFor !== undefined && result !== 'pass') {
      counts.waits.set(waitsFor, (counts.waits.get(waitsFor) ?? 0) + 1)
      return wanted === undefined ? `listed: ${waitsFor}; ${NOT_ASKED}` : `listed: ${waitsFor}`
    }
    if (wanted === undefined) {
      counts.failed++
      return NOT_ASKED
    }
    if (result !== 'pass') {
      counts.failed++
      return ''
    }
    counts.passed++
    return waitsFor === undefined ? '' : `passes, but waits.txt lists it under "${waitsFor}"`
  }

  /** Number of tests that pass on kube-apiserver. */
  get reference(): number {
    return this.#sum(({ reference }) => reference)
  }

  get passed(): number {
    return this.#sum(({ passed }) => passed)
  }

  get failed(): number {
    return this.#sum(({ failed }) => failed)
  }

  /** Returns one line per package, one line per missing feature that tests need, and the total. */
  summary(): string[] {
    const features = new Map<string, number>()
    for (const { waits } of this.#packages.values())
      for (const [feature, count] of waits)
        features.set(feature, (features.get(feature) ?? 0) + count)
    return [
      'package\treference\tkeelson\twaits',
      ...[...this.#packages].map(([name, { reference, passed, waits }]) =>
        [
          name,
          reference,
          passed,
          [...waits].map(([feature, count]) => `${feature} ${count}`).join(', '),
        ].join('\t'),
      ),
      [
        'all',
        this.reference,
        this.passed,
        this.reference > 0 ? share(this.passed, this.reference) : '',
      ].join('\t'),
      ...[...features].map(([feature, count]) => `listed: ${feature}: ${count}`).toSorted(byText),
      `${this.passed} passed, ${this.failed} failed`,
    ]
  }

  #of(name: string): Counts {
    let counts = this.#packages.get(name)
    if (counts === undefined)
      this.#packages.set(name, (counts = { reference: 0, passed: 0, failed: 0, waits: new Map() }))
    return counts
  }

  #sum(part: (counts: Counts) => number): number {
    return [...this.#packages.values()].reduce((sum, counts) => sum + part(counts), 0)
  }
}
