/** Counts the results of a run by area. */

export type AreaTotals = {
  cases: number
  failed: number
  steps: number
  /** Number of steps that kube-apiserver accepted. */
  accepted: number
  differing: number
  /**
   * Number of differing steps whose difference changes the outcome for the client
   * (`changesOutcome`).
   */
  changing: number
  reordered: number
  /**
   * Number of differences that could not be reproduced. Either they did not occur again, or
   * kube-apiserver's second response differed from its first one.
   */
  flaky: number
}

export class Totals {
  readonly #byArea = new Map<string, AreaTotals>()

  of(area: string): AreaTotals {
    const known = this.#byArea.get(area)
    if (known !== undefined) return known
    const totals = none()
    this.#byArea.set(area, totals)
    return totals
  }

  get failed(): number {
    return this.#all().failed
  }

  /**
   * Formats one line for each area and one line for the total. The last line is
   * `N passed, N failed`, which are numbers of cases.
   */
  format(): string {
    const lines = [...this.#byArea].map(([area, totals]) => formatLine(area, totals))
    const all = this.#all()
    return [
      ...lines,
      formatLine('all', all),
      `${all.cases - all.failed} passed, ${all.failed} failed`,
    ].join('\n')
  }

  #all(): AreaTotals {
    const all = none()
    for (const totals of this.#byArea.values()) {
      all.cases += totals.cases
      all.failed += totals.failed
      all.steps += totals.steps
      all.accepted += totals.accepted
      all.differing += totals.differing
      all.changing += totals.changing
      all.reordered += totals.reordered
      all.flaky += totals.flaky
    }
    return all
  }
}

const none = (): AreaTotals => ({
  cases: 0,
  failed: 0,
  steps: 0,
  accepted: 0,
  differing: 0,
  changing: 0,
  reordered: 0,
  flaky: 0,
})

const formatLine = (
  area: string,
  { steps, accepted, differing, changing, reordered, flaky }: AreaTotals,
): string => {
  const perThousand = (count: number): string => ((count / Math.max(1, steps)) * 1000).toFixed(2)
  return (
    `${area}: ${steps} steps (${accepted} accepted), ${perThousand(differing)} of 1,000 differ (${differing}), ` +
    `${perThousand(changing)} change what a client achieves (${changing}); ${reordered} reordered, ${flaky} flaky`
  )
}
