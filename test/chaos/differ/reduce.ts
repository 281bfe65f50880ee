/**
 * Reduces a case that shows a difference: removes steps, then parameters and body fields, as long
 * as the difference remains the same.
 */
import type { Json } from '../../recorded/compat/json.ts'
import { deleteAt, type Path, places } from './json-positions.ts'
import type { Difference, Outcome, Runner } from './runner.ts'
import type { Step } from './step.ts'

/**
 * Maximum duration of the reduction of a case. After this time, the smallest case that was found is
 * used.
 */
const REDUCE_MAX_MS = 60_000

/**
 * Query parameter that is never removed, because a watch without it would last for half an hour.
 */
const KEPT_PARAMETER = 'timeoutSeconds'

export type Reduced = { readonly steps: readonly Step[]; readonly difference: Difference }

export async function reduce(
  runner: Runner,
  { steps }: Outcome,
  { difference, trialsMax }: { readonly difference: Difference; readonly trialsMax: number },
): Promise<Reduced> {
  const reduction = new Reduction(
    runner,
    { steps: steps.slice(0, difference.index + 1), difference },
    trialsMax,
  )
  await reduction.dropSteps()
  for (let index = reduction.best.steps.length - 1; index >= 0; index--) {
    await reduction.dropQuery(index)
    await reduction.dropFields(index)
  }
  return reduction.best
}

class Reduction {
  best: Reduced
  readonly #runner: Runner
  readonly #wanted: string
  #trialsLeft: number
  readonly #untilMs = performance.now() + REDUCE_MAX_MS

  constructor(runner: Runner, first: Reduced, trialsMax: number) {
    this.#runner = runner
    this.best = first
    this.#wanted = loose(first.difference.signature)
    this.#trialsLeft = trialsMax
  }

  async dropSteps(): Promise<void> {
    for (let index = this.best.steps.length - 2; index >= 0; index--) {
      if (this.best.steps[index]?.wait) continue
      await this.#attempt(this.best.steps.toSpliced(index, 1))
    }
  }

  async dropQuery(index: number): Promise<void> {
    for (const name of Object.keys(this.best.steps[index]?.query ?? {})) {
      if (name === KEPT_PARAMETER) continue
      const step = this.best.steps[index]
      if (step === undefined) return
      const { [name]: _, ...query } = step.query ?? {}
      await this.#attempt(this.best.steps.with(index, { ...step, query }))
    }
  }

  async dropFields(index: number): Promise<void> {
    let tried = new Set<string>()
    for (;;) {
      const step = this.best.steps[index]
      if (step?.body === undefined || this.#trialsLeft <= 0) return
      const path = removable(step.body).find((candidate) => !tried.has(JSON.stringify(candidate)))
      if (path === undefined) return
      tried.add(JSON.stringify(path))
      const body = structuredClone(step.body)
      if (!deleteAt(body, path)) continue
      const isSmaller = await this.#attempt(this.best.steps.with(index, { ...step, body }))
      // The removal of a list entry changes the indexes of the later entries, so all paths must be
      // tried again.
      if (isSmaller && typeof path.at(-1) === 'number') tried = new Set()
    }
  }

  async #attempt(steps: readonly Step[]): Promise<boolean> {
    if (this.#trialsLeft-- <= 0 || performance.now() > this.#untilMs) return false
    const { differences } = await this.#runner.run(steps)
    const found = differences.find(({ signature }) => loose(signature) === this.#wanted)
    if (found === undefined) return false
    this.best = { steps: steps.slice(0, found.index + 1), difference: found }
    return true
  }
}

/**
 * Returns the paths that can be removed from a body, ordered by the size of their values, largest
 * first.
 */
const removable = (body: Json): Path[] =>
  [...places(body)]
    .filter(
      ({ path }) =>
        path.length > 0 && !['apiVersion', 'kind', 'name', '$base'].includes(String(path.at(-1))),
    )
    .map(({ path, value }) => ({ path, size: JSON.stringify(value).length }))
    .toSorted((a, b) => b.size - a.size)
    .map(({ path }) => path)

/**
 * Returns the first part of a difference's signature, without numbers. A smaller body has other
 * positions and fewer unrelated errors, but its difference must still be recognized.
 */
const loose = (signature: string): string =>
  (signature.split(' ; ')[0] ?? '').replace(/\d+/g, 'N').slice(0, 160)
