/**
 * Evaluates a policy for one request and one parameter. The result has the decisions, in the order
 * of the validations, and the audit annotations.
 */
import type { Turns } from '../../objects/cel/turns.ts'
import { CelError, type Result } from '../../objects/cel/values.ts'
import type { CompiledPolicy, Validation } from './compile-policy.ts'
import { OVER_BUDGET, POLICY_COST_MAX } from './costs.ts'
import {
  type Access,
  allVariables,
  Expressions,
  matchesConditions,
  type PolicyInput,
  type EvaluationContext,
  Scope,
  withoutAuthorizer,
} from './expressions.ts'

const MESSAGE_BYTES_MAX = 5 * 1024

/**
 * Result of a validation. `error` means that an expression failed, so that failurePolicy applies.
 */
export type Decision =
  | { readonly kind: 'admit' }
  | { readonly kind: 'deny'; readonly message: string; readonly reason: string }
  | { readonly kind: 'error'; readonly message: string }

export type AnnotationResult =
  | { readonly kind: 'publish'; readonly key: string; readonly value: string }
  | { readonly kind: 'error'; readonly message: string }

export type Evaluation = {
  readonly decisions: readonly Decision[]
  /** For each decision, the time in milliseconds that the evaluation of its expression took. */
  readonly times: readonly number[]
  readonly annotations: readonly AnnotationResult[]
}

const admitted: Decision = { kind: 'admit' }
const nothing: Evaluation = { decisions: [], times: [], annotations: [] }
const failed = (message: string): Evaluation => ({
  decisions: [{ kind: 'error', message }],
  times: [],
  annotations: [],
})

export function* evaluatePolicy(
  policy: CompiledPolicy,
  input: PolicyInput,
  running: EvaluationContext,
): Turns<Evaluation> {
  const matches =
    policy.conditions.length === 0 || (yield* matchesConditions(policy, input, running))
  if (matches === false) return nothing
  if (matches instanceof CelError) return failed(matches.message)
  const expressions = (access: Access, costMax: number): Expressions =>
    new Expressions(new Scope(input, access, { policy, running }), running, costMax)
  const validating = expressions(allVariables, POLICY_COST_MAX)
  const results = yield* validating.evaluate(policy.expressions)
  if (results === undefined) return failed(OVER_BUDGET)
  const hasPassed = results.every((result) => result === true)
  const decisions = hasPassed
    ? results.map(() => admitted)
    : yield* decide(policy, results, expressions(withoutAuthorizer, validating.costLeft))
  const { times } = validating
  if (policy.auditAnnotations.length === 0) return { decisions, times, annotations: [] }
  const annotating = expressions(withoutAuthorizer, POLICY_COST_MAX)
  const values = yield* annotating.evaluate(
    policy.auditAnnotations.map(({ expression }) => expression),
  )
  if (values === undefined) return failed(OVER_BUDGET)
  const annotations = policy.auditAnnotations.flatMap(({ key }, at) =>
    annotationOf(key, values[at]),
  )
  return { decisions, times, annotations }
}

/**
 * Returns the decisions. If any validation fails, all message expressions are evaluated. They share
 * the cost budget that the validations have not used.
 */
function* decide(
  policy: CompiledPolicy,
  results: readonly Result[],
  messages: Expressions,
): Turns<Decision[]> {
  const texts = yield* messages.evaluate(
    policy.validations.map(({ messageExpression }) => messageExpression),
  )
  return policy.validations.map((validation, at): Decision => {
    const result = results[at]
    if (result instanceof CelError) return { kind: 'error', message: result.message }
    if (texts === undefined)
      return { kind: 'error', message: `failed messageExpression: ${OVER_BUDGET}` }
    if (result === true) return admitted
    return { kind: 'deny', message: messageOf(validation, texts[at]), reason: validation.reason }
  })
}

function messageOf({ message, expression }: Validation, computed: Result | undefined): string {
  const text = typeof computed === 'string' ? computed.trim() : ''
  const isUsable =
    text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MESSAGE_BYTES_MAX
  return isUsable ? text : message || `failed expression: ${expression.text.trim()}`
}

/** Returns the annotations to publish. Leaves out null and blank values. */
function annotationOf(key: string, value: Result | undefined): AnnotationResult[] {
  if (value instanceof CelError) return [{ kind: 'error', message: value.message }]
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? [] : [{ kind: 'publish', key, value: text }]
}
