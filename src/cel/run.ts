/** One evaluation: its variables and what it has cost so far. */
import type { Result, Value } from './values.ts'

export type Activation = { readonly [variable: string]: Value | undefined }

/** One evaluation. */
export class Run {
  readonly activation: Activation
  readonly locals: Result[] = []
  readonly #costMax: number
  cost = 0

  constructor(activation: Activation, costMax: number) {
    this.activation = activation
    this.#costMax = costMax
  }

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.#costMax) throw new CostExceeded()
  }
}

/** Ends an evaluation from within; no `||` absorbs it. */
export class CostExceeded extends Error {}

/** A part of an expression, ready to run. */
export type Step = (run: Run) => Result
