/** Evaluates expressions of a policy that share a budget and the values of variables. */
import { type EvaluationResult, Evaluation } from '../../objects/cel/compile.ts'
import type { Activation, Slice } from '../../objects/cel/run.ts'
import type { Turns, TurnTools } from '../../objects/cel/turns.ts'
import { CelError, type Result } from '../../objects/cel/values.ts'
import type { Conditional, Expression } from './compile-expressions.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, OVER_BUDGET } from './costs.ts'
import { VariableValues } from './variable-values.ts'

/**
 * The variables of expressions. Match conditions have no `namespaceObject`; messages and audit
 * annotations have no authorizer.
 */
export type PolicyInput = {
  readonly object: Result
  readonly oldObject: Result
  readonly request: Result
  readonly namespaceObject: Result
  /** Null: the binding has none. Undefined: the policy has no paramKind. */
  readonly params: Result | undefined
  readonly authorizer: Activation
}

export type EvaluationContext = {
  readonly slice: Slice
  readonly tools: TurnTools
  readonly nowMs: () => number
  /**
   * Match conditions do not all hold: how long they took, and how many of them could not be
   * evaluated.
   */
  readonly onUnmatched?: (ms: number, errors: number) => void
}

/** Which of the variables expressions have besides those that all have. */
export type Access = { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean }

/** Of validations and mutations. */
export const allVariables: Access = { hasAuthorizer: true, hasNamespace: true }
/** Of messages and audit annotations. */
export const withoutAuthorizer: Access = { hasAuthorizer: false, hasNamespace: true }
const ofConditions: Access = { hasAuthorizer: true, hasNamespace: false }

/** A condition that is false decides, whatever errors others have. */
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
 * The variables of expressions. They read them from here: what takes time to make is made for those
 * that use it.
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

  /** What was spent on variables since the last call. */
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

/** How often the clock is looked at between expressions; a long one looks at it by itself. */
const LOOK_EXPRESSIONS = 16

export class Expressions {
  readonly #scope: Scope
  readonly #slice: Slice
  readonly #nowMs: () => number
  /**
   * How long an expression that is not true took, with those before it that are, in ms; 0 for
   * these.
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
   * A result for each expression. Undefined: they cost more than the budget, and nothing of their
   * results counts.
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

  /** Most are over at once. */
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
