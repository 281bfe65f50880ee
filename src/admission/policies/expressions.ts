/** Evaluates expressions of a policy that share a budget and the values of variables. */
import type { Activation, Slice } from '../../cel/run.ts'
import type { Turns, TurnTools } from '../../cel/turns.ts'
import { CelError, type Result } from '../../cel/values.ts'
import type { Conditional, Expression } from './compile-expressions.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, OVER_BUDGET } from './costs.ts'
import { VariableValues } from './variable-values.ts'

/** The variables of expressions. Match conditions have no `namespaceObject`; messages and audit annotations have no authorizer. */
export type PolicyInput = {
  readonly object: Result
  readonly oldObject: Result
  readonly request: Result
  readonly namespaceObject: Result
  /** Null: the binding has none. Undefined: the policy has no paramKind. */
  readonly params: Result | undefined
  readonly authorizer: Activation
}

export type Running = {
  readonly slice: Slice
  readonly tools: TurnTools
  readonly nowMs: () => number
  /** Match conditions do not all hold: how long they took, and how many of them could not be evaluated. */
  readonly onUnmatched?: (ms: number, errors: number) => void
}

/** The variables of expressions that may ask the authorizer. */
export const askingOf = ({ authorizer, ...common }: PolicyInput): Activation => ({ ...common, ...authorizer })

/** A condition that is false decides, whatever errors others have. */
export function* matchesConditions(
  policy: Conditional,
  input: PolicyInput,
  running: Running,
): Turns<boolean | CelError> {
  if (policy.conditions.length === 0) return true
  const activation = { ...askingOf(input), namespaceObject: null }
  const expressions = new Expressions(policy, activation, { ...running, costMax: CONDITIONS_COST_MAX })
  const begin = running.nowMs()
  const results = yield* expressions.evaluate(policy.conditions)
  const ms = running.nowMs() - begin
  if (results === undefined) {
    running.onUnmatched?.(ms, 0)
    return new CelError(OVER_BUDGET)
  }
  const firstFalse = results.indexOf(false)
  const looked = firstFalse === -1 ? results : results.slice(0, firstFalse)
  const errors = looked.flatMap((result) => (result instanceof CelError ? result.message : []))
  if (firstFalse === -1 && errors.length === 0) return true
  running.onUnmatched?.(ms, errors.length)
  if (firstFalse !== -1) return false
  const distinct = [...new Set(errors)]
  return new CelError(distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`)
}

export class Expressions {
  readonly #activation: Activation
  readonly #variables: VariableValues
  readonly #slice: Slice
  readonly #nowMs: () => number
  /** How long each expression took, in ms. */
  readonly times: number[] = []
  #costLeft: number

  constructor(
    policy: Conditional,
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
