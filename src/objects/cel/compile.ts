/**
 * The entry point of the CEL implementation: compiles the text of an expression to a program. All
 * errors are returned as one message in the format of cel-go.
 *
 *     const variables = { self: typeOfSchema(schema, { name: 'self' }) }
 *     const environment = withVariables(kubernetesEnvironment(storedVersion(33)), variables)
 *     const compiled = compile('self.minReplicas <= self.replicas', environment)
 *     if ('fault' in compiled) …
 *     const { value, cost } = compiled.program.evaluate({ self: valueOf(json, type) }, 1_000_000)
 */
import { readsField } from './ast.ts'
import { check, type CheckedExpression } from './checker.ts'
import type { Environment } from './environment.ts'
import { estimateCost } from './estimate.ts'
import type { Range } from './functions.ts'
import { parse } from './parser.ts'
import { plan, PlanFault } from './plan.ts'
import {
  type Activation,
  type Suspension,
  CostExceeded,
  PausedError,
  Run,
  type Slice,
  type Step,
} from './run.ts'
import { atOnce, type Turns } from './turns.ts'
import type { Type } from './types.ts'
import { validateLiterals } from './validate-literals.ts'
import { CelError, type Value } from './values.ts'

export type CompileResult =
  | { readonly program: Program; readonly type: Type }
  /**
   * An invalid expression. `stage` is `compilation` if it cannot be compiled, and `instantiation`
   * if the compiled expression cannot be converted to a program. The messages of kube-apiserver
   * differ between these stages.
   */
  | { readonly fault: string; readonly stage: 'compilation' }
  | {
      readonly fault: string
      readonly stage: 'instantiation'
      readonly type: Type
      /** Variables that the expression uses. */
      readonly variables: ReadonlySet<string>
    }

export type EvaluationResult = { readonly value: Value; readonly cost: number } | Failure

export type Failure = {
  readonly error: string
  readonly cost: number
  /** Whether the cost budget is used up. If so, no other expression may use the same budget. */
  readonly isOverBudget: boolean
}

export const OVER_BUDGET = 'operation cancelled: actual cost limit exceeded'

export class Program {
  readonly #step: Step
  readonly #checked: CheckedExpression
  readonly #names: ReadonlySet<string>

  constructor(step: Step, checked: CheckedExpression, names: ReadonlySet<string>) {
    this.#step = step
    this.#checked = checked
    this.#names = names
  }

  /** Evaluates the program synchronously. `costMax` is the cost limit in kube-apiserver's units. */
  evaluate(activation: Activation, costMax: number): EvaluationResult {
    const evaluation = this.start(activation, costMax)
    for (;;) {
      const turn = evaluation.goOn({ isOver: () => false })
      if (turn !== undefined && !('question' in turn)) return turn
      turn?.resume(turn.question.answer())
    }
  }

  /** Starts an evaluation that the caller runs in time slices. */
  start(activation: Activation, costMax: number): Evaluation {
    return new Evaluation(this.#step, new Run(activation, costMax))
  }

  /**
   * Evaluates the program as a generator. It yields when the time slice is over, or when it needs a
   * result that is not available yet (question.ts). In the latter case, the caller must provide the
   * result, for example with the functions in `turns.ts`.
   */
  *inTurns(activation: Activation, costMax: number, slice: Slice): Turns<EvaluationResult> {
    if (slice.isOver()) yield undefined
    const begun = this.begin(activation, costMax, slice)
    return begun instanceof Evaluation ? yield* begun.finish(slice) : begun
  }

  /**
   * Starts an evaluation. Returns the result if it is available within the time slice and without
   * asynchronous operations. Otherwise returns the evaluation, which the caller must then run to
   * its end.
   */
  begin(activation: Activation, costMax: number, slice: Slice): EvaluationResult | Evaluation {
    const evaluation = this.start(activation, costMax)
    const turn = evaluation.goOn(slice)
    return turn === undefined || 'question' in turn ? evaluation : turn
  }

  /**
   * Estimates the maximum cost of the expression. The size of values is bounded by the type `root`
   * and the types of its fields.
   */
  estimateCost(root: Type, slice: Slice): Turns<Range> {
    return estimateCost(this.#checked, root, slice)
  }

  /**
   * Whether the expression refers to a variable. For example, a rule that refers to `oldSelf` is a
   * transition rule.
   */
  uses(variable: string): boolean {
    return this.#names.has(variable)
  }

  /**
   * Whether the expression reads a field with `.`, `.?` or `has`. If `variable` is given, only
   * fields of this variable count.
   */
  readsField(field: string, variable?: string): boolean {
    return readsField(this.#checked.expr, field, variable)
  }
}

export class Evaluation {
  readonly #step: Step
  readonly #run: Run
  /**
   * The result for which the evaluation waits. Undefined if it can continue in the next time slice.
   */
  asked: Suspension | undefined

  constructor(step: Step, run: Run) {
    this.#step = step
    this.#run = run
  }

  /**
   * Runs the evaluation until it ends or the time slice is over. Returns undefined if the time
   * slice is over, or a `Suspension` if the evaluation must wait for a result.
   */
  goOn(slice: Slice): EvaluationResult | Suspension | undefined {
    const run = this.#run
    try {
      const value = run.goOn(this.#step, slice)
      if (!(value instanceof CelError)) return { value, cost: run.cost }
      return { error: value.message, cost: run.cost, isOverBudget: false }
    } catch (error) {
      if (error instanceof PausedError) return (this.asked = error.asked)
      // V8 throws a RangeError for a string beyond its maximum length. The cost of such a string
      // exceeds all limits, so report that the cost limit is exceeded.
      const isOver = error instanceof CostExceeded || error instanceof RangeError
      if (isOver) return { error: OVER_BUDGET, cost: run.paid, isOverBudget: true }
      throw error
    }
  }

  /** Runs the evaluation to its end, and yields whenever it is interrupted. */
  *finish(slice: Slice): Turns<EvaluationResult> {
    for (;;) {
      yield this.asked
      if (slice.isOver()) yield undefined
      const turn = this.goOn(slice)
      if (turn !== undefined && !('question' in turn)) return turn
    }
  }
}

/** Compiles an expression synchronously. Use this only where the event loop may be blocked. */
export const compile = (text: string, environment: Environment): CompileResult =>
  atOnce((slice) => compileInTurns(text, environment, slice))

export function* compileInTurns(
  text: string,
  environment: Environment,
  slice: Slice,
): Turns<CompileResult> {
  const parsed = yield* parse(text, environment.macros, slice)
  const refuse = (faults: Parameters<typeof parsed.source.describe>[0]): CompileResult => ({
    fault: parsed.source.describe(faults),
    stage: 'compilation',
  })
  if ('faults' in parsed) return refuse(parsed.faults)
  const checked = yield* check(parsed.expr, environment, slice)
  if ('faults' in checked) return refuse(checked.faults)
  const wrong = yield* validateLiterals(checked, environment, slice)
  if (wrong.length > 0) return refuse(wrong)
  const step = yield* plan(checked, slice)
  const { type, variables } = checked
  if (step instanceof PlanFault)
    return { fault: step.message, stage: 'instantiation', type, variables }
  return { program: new Program(step, checked, variables), type }
}
