/**
 * Values of a policy's variables for one request. A variable is evaluated only once, when an
 * expression first reads it.
 */
import { quote } from '../../api/quote.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { type EvaluationResult, Evaluation } from '../../objects/cel/compile.ts'
import type { Activation, Slice } from '../../objects/cel/run.ts'
import { inTurns, type TurnTools } from '../../objects/cel/turns.ts'
import { CelError, LazyStruct, type Result } from '../../objects/cel/values.ts'
import type { Expression } from './compile-expressions.ts'
import { EXPRESSION_COST_MAX } from './costs.ts'

/**
 * The time slice and the callbacks for an evaluation. A variable uses those of the expression that
 * reads it.
 */
export type VariablesRunning = { readonly slice: Slice; readonly tools: TurnTools }

export class VariableValues extends LazyStruct {
  override readonly typeName = 'kubernetes.variables'
  readonly #variables: ReadonlyMap<string, Expression>
  readonly #activation: Activation
  readonly #running: VariablesRunning
  readonly #values = new Map<string, MaybePromise<Result>>()
  #cost = 0

  /**
   * Creates the values of the variables. `activation` has all variables that the expressions can
   * use, including those in `variables`.
   */
  constructor(
    variables: ReadonlyMap<string, Expression>,
    activation: Activation,
    running: VariablesRunning,
  ) {
    super()
    this.#variables = variables
    this.#activation = activation
    this.#running = running
  }

  override *fields(): Generator<string> {
    yield* this.#variables.keys()
  }

  override read(name: string): MaybePromise<Result> | undefined {
    const known = this.#values.get(name)
    if (known !== undefined) return known
    const variable = this.#variables.get(name)
    if (variable === undefined) return undefined
    const value = this.#evaluate(name, variable)
    this.#values.set(name, value)
    return value
  }

  /** Returns the evaluation cost of the variables that were evaluated since the last call. */
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }

  #evaluate(name: string, { program, fault }: Expression): MaybePromise<Result> {
    if (program === undefined)
      return new CelError(`composited variable ${quote(name)} fails to compile: ${fault}`)
    const reported = (evaluated: EvaluationResult): Result => {
      this.#cost += evaluated.cost
      const result =
        'error' in evaluated
          ? new CelError(`composited variable ${quote(name)} fails to evaluate: ${evaluated.error}`)
          : evaluated.value
      this.#values.set(name, result)
      return result
    }
    const { slice, tools } = this.#running
    // If the time slice is over, yield before the evaluation. Otherwise an expression that reads a
    // thousand variables could block the event loop.
    const begun = slice.isOver()
      ? program.start(this.#activation, EXPRESSION_COST_MAX)
      : program.begin(this.#activation, EXPRESSION_COST_MAX, slice)
    if (!(begun instanceof Evaluation)) return reported(begun)
    return inTurns((own) => begun.finish(own), tools).then(reported)
  }
}
