/** What a policy says about one request, with one parameter: decisions, in the order of its validations, and audit annotations. */
import type { Activation, Slice } from '../../cel/run.ts'
import type { Turns, TurnTools } from '../../cel/turns.ts'
import { CelError, type Result } from '../../cel/values.ts'
import type { CompiledPolicy, Expression, Validation } from './compile-policy.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, POLICY_COST_MAX } from './costs.ts'
import { VariableValues } from './variable-values.ts'

const MESSAGE_BYTES_MAX = 5 * 1024

/** The variables of expressions. Match conditions have no `namespaceObject`; only validations, conditions and variables have an authorizer. */
export type PolicyInput = {
  readonly object: Result
  readonly oldObject: Result
  readonly request: Result
  readonly namespaceObject: Result
  /** Null: the binding has none. Undefined: the policy has no paramKind. */
  readonly params: Result | undefined
  readonly authorizer: Activation
}

/** `error`: an expression could not be evaluated, and the failurePolicy decides. */
export type Decision =
  | { readonly kind: 'admit' }
  | { readonly kind: 'deny'; readonly message: string; readonly reason: string }
  | { readonly kind: 'error'; readonly message: string }

export type AnnotationResult =
  | { readonly kind: 'publish'; readonly key: string; readonly value: string }
  | { readonly kind: 'error'; readonly message: string }

export type Evaluation = {
  readonly decisions: readonly Decision[]
  /** How long the expression of each decision took. */
  readonly times: readonly number[]
  readonly annotations: readonly AnnotationResult[]
}

export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'

const admitted: Decision = { kind: 'admit' }
const nothing: Evaluation = { decisions: [], times: [], annotations: [] }
const failed = (message: string): Evaluation => ({
  decisions: [{ kind: 'error', message }],
  times: [],
  annotations: [],
})

type Running = { readonly slice: Slice; readonly tools: TurnTools; readonly nowMs: () => number }

export function* evaluatePolicy(policy: CompiledPolicy, input: PolicyInput, running: Running): Turns<Evaluation> {
  const { authorizer, ...common } = input
  const asking = { ...common, ...authorizer }
  if (policy.conditions.length > 0) {
    const unmatched = yield* unmatchedBy(policy, { ...asking, namespaceObject: null }, running)
    if (unmatched !== undefined) return unmatched
  }
  const validating = new Expressions(policy, asking, { ...running, costMax: POLICY_COST_MAX })
  const results = yield* validating.evaluate(policy.validations.map(({ expression }) => expression))
  if (results === undefined) return failed(OVER_BUDGET)
  const hasPassed = results.every((result) => result === true)
  const decisions = hasPassed
    ? results.map(() => admitted)
    : yield* decide(policy, results, new Expressions(policy, common, { ...running, costMax: validating.costLeft }))
  const { times } = validating
  if (policy.auditAnnotations.length === 0) return { decisions, times, annotations: [] }
  const annotating = new Expressions(policy, common, { ...running, costMax: POLICY_COST_MAX })
  const values = yield* annotating.evaluate(policy.auditAnnotations.map(({ expression }) => expression))
  if (values === undefined) return failed(OVER_BUDGET)
  const annotations = policy.auditAnnotations.flatMap(({ key }, at) => annotationOf(key, values[at]))
  return { decisions, times, annotations }
}

/** Undefined: all match conditions hold. A condition that is false decides, whatever errors others have. */
function* unmatchedBy(policy: CompiledPolicy, activation: Activation, running: Running): Turns<Evaluation | undefined> {
  const expressions = new Expressions(policy, activation, { ...running, costMax: CONDITIONS_COST_MAX })
  const results = yield* expressions.evaluate(policy.conditions)
  if (results === undefined) return failed(OVER_BUDGET)
  if (results.includes(false)) return nothing
  const errors = results.flatMap((result) => (result instanceof CelError ? result.message : []))
  if (errors.length === 0) return undefined
  const distinct = [...new Set(errors)]
  return failed(distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`)
}

/** Messages are evaluated only if a validation failed, then all of them, on what the validations left of the budget. */
function* decide(policy: CompiledPolicy, results: readonly Result[], messages: Expressions): Turns<Decision[]> {
  const texts = yield* messages.evaluate(policy.validations.map(({ messageExpression }) => messageExpression))
  return policy.validations.map((validation, at): Decision => {
    const result = results[at]
    if (result instanceof CelError) return { kind: 'error', message: result.message }
    if (texts === undefined) return { kind: 'error', message: `failed messageExpression: ${OVER_BUDGET}` }
    if (result === true) return admitted
    return { kind: 'deny', message: messageOf(validation, texts[at]), reason: validation.reason }
  })
}

function messageOf({ message, expression }: Validation, computed: Result | undefined): string {
  const text = typeof computed === 'string' ? computed.trim() : ''
  const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MESSAGE_BYTES_MAX
  return isUsable ? text : message || `failed expression: ${expression.text.trim()}`
}

/** Null and blank values are not published. */
function annotationOf(key: string, value: Result | undefined): AnnotationResult[] {
  if (value instanceof CelError) return [{ kind: 'error', message: value.message }]
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? [] : [{ kind: 'publish', key, value: text }]
}

/** Expressions that share a budget and the values of variables. */
class Expressions {
  readonly #activation: Activation
  readonly #variables: VariableValues
  readonly #slice: Slice
  readonly #nowMs: () => number
  /** How long each expression took, in ms. */
  readonly times: number[] = []
  #costLeft: number

  constructor(
    policy: CompiledPolicy,
    activation: Activation,
    { slice, tools, nowMs, costMax }: Running & { readonly costMax: number },
  ) {
    this.#variables = new VariableValues(policy.variables, activation, tools)
    this.#activation = { ...activation, variables: this.#variables }
    this.#slice = slice
    this.#nowMs = nowMs
    this.#costLeft = costMax
  }

  get costLeft(): number {
    return this.#costLeft
  }

  /** A result for each expression. Undefined: they cost more than the budget, and nothing of their results counts. */
  *evaluate(expressions: readonly (Expression | undefined)[]): Turns<Result[] | undefined> {
    const results: Result[] = []
    for (const expression of expressions) {
      const begin = this.#nowMs()
      const result = expression === undefined ? null : yield* this.#evaluateOne(expression)
      this.times.push(this.#nowMs() - begin)
      if (this.#costLeft < 0) return undefined
      results.push(result)
    }
    return results
  }

  *#evaluateOne({ text, program, fault }: Expression): Turns<Result> {
    if (program === undefined) return new CelError(`compilation error: ${fault}`)
    const result = yield* program.inTurns(this.#activation, EXPRESSION_COST_MAX, this.#slice)
    this.#costLeft -= result.cost + this.#variables.takeCost()
    return 'error' in result ? new CelError(`expression '${text}' resulted in error: ${result.error}`) : result.value
  }
}
