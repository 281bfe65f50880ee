/** Runs a case on both servers, step by step, and finds responses that differ. */
import { diff } from '../../recorded/compat/diff.ts'
import type { Json } from '../../recorded/compat/json.ts'
import { orderOf } from './compare.ts'
import { isKnown } from './known.ts'
import { namespaces, Session } from './session.ts'
import { changesOutcome, signatureOf } from './signature.ts'
import type { Case, ReceivedAnswers, Step } from './step.ts'
import type { Target } from './target.ts'

export type Difference = {
  /** Index of the step in its case. */
  readonly index: number
  readonly want: Json
  readonly got: Json
  readonly lines: readonly string[]
  readonly signature: string
  readonly changesOutcome: boolean
}

export type Outcome = {
  readonly steps: readonly Step[]
  readonly compared: number
  /** Number of steps that both servers reject for the same causes, but in a different order. */
  readonly reordered: number
  readonly differences: readonly Difference[]
  /** kube-apiserver's normalized response to each compared step. */
  readonly answers: readonly Json[]
}

export class Runner {
  readonly #reference: Target
  readonly #keelson: Target
  readonly #namespaces = namespaces()

  constructor(reference: Target, keelson: Target) {
    this.#reference = reference
    this.#keelson = keelson
  }

  /**
   * Runs the steps in a new namespace. Stops at a difference after which the states of the two
   * servers may differ.
   */
  async run(steps: Case | readonly Step[]): Promise<Outcome> {
    const namespace = this.#namespaces.next().value
    const [reference, keelson] = [
      new Session(this.#reference, namespace),
      new Session(this.#keelson, namespace),
    ]
    await Promise.all([reference.begin(), keelson.begin()])
    const taken: Step[] = []
    const differences: Difference[] = []
    const answers: Json[] = []
    let reordered = 0
    const next = iterate(steps)
    for (let step = next(undefined); step !== undefined; ) {
      taken.push(step)
      const [answer, own] = await Promise.all([reference.send(step), keelson.send(step)])
      // Stop if neither server serves the resource that this step waits for. In this case, its
      // definition was removed or rejected.
      if (step.wait && answer.status !== 200 && own.status !== 200) break
      if (!step.wait) {
        const [want, got] = [reference.normalise(answer), keelson.normalise(own)]
        answers.push(want)
        const lines = diff(want, got)
        if (lines.length === 0 && orderOf(answer) !== orderOf(own)) reordered++
        if (lines.length > 0) {
          const compared = { want, got, lines }
          if (!isKnown({ step, want, got }))
            differences.push({
              index: taken.length - 1,
              ...compared,
              signature: signatureOf(step, compared),
              changesOutcome: changesOutcome(compared),
            })
          // If both servers rejected the request, they still have the same objects, so the case
          // continues.
          if (answer.status < 400 || own.status < 400) break
        }
      }
      step = next({ ...answer, keelson: own })
    }
    await Promise.all([reference.end(taken), keelson.end(taken)])
    return { steps: taken, compared: answers.length, reordered, differences, answers }
  }
}

function iterate(
  steps: Case | readonly Step[],
): (received: ReceivedAnswers | undefined) => Step | undefined {
  if (!('next' in steps)) {
    let index = 0
    return () => steps[index++]
  }
  return (received) => {
    const { value } = received === undefined ? steps.next() : steps.next(received)
    return value ?? undefined
  }
}
