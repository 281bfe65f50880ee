/** The CEL match conditions of a webhook, which is called only if all of them are true. */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { accessReviewType } from '../../objects/cel/access.ts'
import { valueOf } from '../../objects/cel/json-values.ts'
import type { AnswerPattern } from '../../objects/cel/pattern-thread.ts'
import type { Slice } from '../../objects/cel/run.ts'
import { nowOrInTurns, type Turns } from '../../objects/cel/turns.ts'
import type { Expression } from '../../config/files/expressions.ts'
import type { ReviewSpec } from './review-spec.ts'

/** Cost limit of one condition in CEL cost units, as in kube-apiserver. */
const CONDITION_COST_MAX = 1_000_000

/**
 * The combined result of all conditions. If one condition is false, the errors of other conditions
 * are ignored.
 */
export type ConditionResult = { readonly isMatch: boolean; readonly error?: string }

export type MatchConditions = {
  readonly conditions: readonly Expression[]
  readonly hasSelectors: boolean
  /** Matches slow regular expressions outside the main thread. */
  readonly answerPattern?: AnswerPattern | undefined
}

/** Evaluates the conditions. Returns a promise only if the evaluation takes a long time. */
export function matchConditions(
  spec: ReviewSpec,
  parts: MatchConditions,
): MaybePromise<ConditionResult> {
  const { conditions, hasSelectors, answerPattern: answer } = parts
  const request = valueOf({ ...spec }, accessReviewType({ hasSelectors }))
  return nowOrInTurns(
    (slice) => evaluateAll(conditions, { request }, slice),
    answer === undefined ? {} : { answer },
  )
}

function* evaluateAll(
  conditions: readonly Expression[],
  variables: { readonly request: ReturnType<typeof valueOf> },
  slice: Slice,
): Turns<ConditionResult> {
  const errors: string[] = []
  for (const { text, program } of conditions) {
    const result = yield* program.inTurns(variables, CONDITION_COST_MAX, slice)
    if ('error' in result)
      errors.push(`cel evaluation error: expression '${text}' resulted in error: ${result.error}`)
    else if (result.value !== true) return { isMatch: false }
  }
  if (errors.length === 0) return { isMatch: true }
  return {
    isMatch: false,
    error: errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`,
  }
}
