/** Evaluates the expressions of a policy, which share a cost budget and the values of variables. */
import { type EvaluationResult, Evaluation } from '../../objects/cel/compile.ts'
import type { Activation, Slice } from '../../objects/cel/run.ts'
import type { Turns, TurnTools } from '../../objects/cel/turns.ts'
import { CelError, type Result } from '../../objects/cel/values.ts'
import type { Conditional, Expression } from './compile-expressions.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, OVER_BUDGET } from './costs.ts'
import { VariableValues } from './variable-values.ts'

/**
 * Values of the variables that expressions can use. Match conditions cannot use `namespaceObject`.
 * Messages and audit annotations cannot use the authorizer.
 */
export type PolicyInput = {
  readonly object: Result
  readonly oldObject: Result
  readonly request: Result
  readonly namespaceObject: Result
  /**
   * Value of `params`. Null if the binding has no parameters, undefined if the policy has no
   * paramKind.
   */
  readonly params: Result | undefined
  readonly authorizer: Activation
}

export type EvaluationContext = {
  readonly slice: Slice
  readonly tools: TurnTools
  readonly nowMs: () => number
  /**
   * Called if at least one match condition is not true. `ms` is the duration of the evaluation of
   * all match conditions, and `errors` is the number of conditions whose evaluation failed.
   */
  readonly onUnmatched?: (ms: number, errors: number) => void
}

/** Variables that only some kinds of expressions can use. */
export type Access = { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean }

/** Variables available to validations and mutations. */
export const allVariables: Access = { hasAuthorizer: true, hasNamespace: true }
/** Variables available to messages and audit annotations. */
export const withoutAuthorizer: Access = { hasAuthorizer: false, hasNamespace: true }
const ofConditions: Access = { hasAuthorizer: true, hasNamespace: false }

/**
 * Returns whether all match conditions are true. If one condition is false, the errors of other
 * conditions are ignored.
 */
export function* matchesConditions(
  policy: Conditional,
  input: PolicyInput,
  running: EvaluationContext,
): Turns<boolean | CelError> {
  const scope = new Scope(input, ofConditions, { policy, running })
  const expressions = new Expressions(scope, running, CONDITIONS_COST_MAX)
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

type ScopeOptions = {
  readonly policy: Conditional
  readonly running: Pick<EvaluationContext, 'slice' | 'tools'>
}

/**
 * The variables of expressions, which are implemented as getters. A value that is expensive to
 * build is built only when an expression uses it.
 */
export class Scope {
  readonly [name: string]: Result | undefined
  readonly #input: PolicyInput
  readonly #access: Access
  readonly #policy: Conditional
  readonly #running: Pick<EvaluationContext, 'slice' | 'tools'>
  #variables: VariableValues | undefined

  constructor(input: PolicyInput, access: Access, { policy, running }: ScopeOptions) {
    this.#input = input
    this.#access = access
    this.#policy = policy
    this.#running = running
  }

  get variables(): VariableValues {
    return (this.#variables ??= new VariableValues(this.#policy.variables, this, this.#running))
  }

  /** Returns the evaluation cost of the variables that were evaluated since the last call. */
  static takeCost(scope: Scope): number {
    return scope.#variables?.takeCost() ?? 0
  }

  get object(): Result {
    return this.#input.object
  }

  get oldObject(): Result {
    return this.#input.oldObject
  }

  get request(): Result {
    return this.#input.request
  }

  get params(): Result | undefined {
    return this.#input.params
  }

  get namespaceObject(): Result {
    return this.#access.hasNamespace ? this.#input.namespaceObject : null
  }

  get authorizer(): Result | undefined {
    return this.#access.hasAuthorizer ? this.#input.authorizer['authorizer'] : undefined
  }

  get 'authorizer.requestResource'(): Result | undefined {
    return this.#access.hasAuthorizer
      ? this.#input.authorizer['authorizer.requestResource']
      : undefined
  }
}

/**
 * Number of expressions between checks of the clock. A long evaluation of one expression checks the
 * clock itself.
 */
const LOOK_EXPRESSIONS = 16

export class Expressions {
  readonly #scope: Scope
  readonly #slice: Slice
  readonly #nowMs: () => number
  /**
   * The duration of each expression in milliseconds, or 0 if the expression is true. To save
   * readings of the clock, the duration of a true expression is added to the next expression that
   * is not true.
   */
  readonly times: number[] = []
  #costLeft: number

  constructor(scope: Scope, { slice, nowMs }: EvaluationContext, costMax: number) {
    this.#scope = scope
    this.#slice = slice
    this.#nowMs = nowMs
    this.#costLeft = costMax
  }

  get costLeft(): number {
    return this.#costLeft
  }

  /**
   * Returns a result for each expression. Returns undefined if the expressions exceed the cost
   * limit, because then all results are discarded.
   */
  *evaluate(expressions: readonly (Expression | undefined)[]): Turns<Result[] | undefined> {
    const results: Result[] = []
    let sinceMs = this.#nowMs()
    for (const expression of expressions) {
      if (results.length % LOOK_EXPRESSIONS === LOOK_EXPRESSIONS - 1 && this.#slice.isOver())
        yield undefined
      const begun = this.#begin(expression)
      const result =
        begun instanceof Evaluation
          ? this.#end(expression, yield* begun.finish(this.#slice))
          : begun
      const nowMs = result === true ? sinceMs : this.#nowMs()
      this.times.push(nowMs - sinceMs)
      sinceMs = nowMs
      if (this.#costLeft < 0) return undefined
      results.push(result)
    }
    return results
  }

  /** Starts an evaluation. Most evaluations finish synchronously. */
  #begin(expression: Expression | undefined): Result | Evaluation {
    if (expression === undefined) return null
    const { program, fault } = expression
    if (program === undefined) return new CelError(`compilation error: ${fault}`)
    const begun = program.begin(this.#scope, EXPRESSION_COST_MAX, this.#slice)
    return begun instanceof Evaluation ? begun : this.#end(expression, begun)
  }

  #end(expression: Expression | undefined, result: EvaluationResult): Result {
    this.#costLeft -= result.cost + Scope.takeCost(this.#scope)
    if (!('error' in result)) return result.value
    return new CelError(`expression '${expression?.text}' resulted in error: ${result.error}`)
  }
}
