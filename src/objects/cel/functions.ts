/**
 * Functions as libraries declare them. A function has overloads, for the checker, and one
 * implementation for all of them, which checks the types of its arguments: arguments of type dyn
 * need that anyway.
 */
import type { Expr } from './ast.ts'
import type { Question } from './question.ts'
import type { Pattern } from './regex.ts'
import type { Type } from './types.ts'
import type { CelError, Result, Value } from './values.ts'

/** Bounds of a size or a cost. */
export type Range = { readonly min: number; readonly max: number }

/** An argument, as far as it is known before the evaluation. */
export type Operand = {
  readonly expr: Expr
  readonly type: Type
  readonly size: Range
  /** The size of the items of a list. */
  readonly elementSize: () => Range
}

export type CallEstimate = { readonly cost: Range; readonly size?: Range }

/** The receiver of a member call is the first operand. */
export type Estimate = (operands: readonly Operand[], overload: string) => CallEstimate | undefined
export type RunCost = (
  args: readonly Value[],
  result: Result,
  overload: string,
) => number | undefined

/**
 * Functions charge it, before they start, for work that their costs do not cover, in nanoseconds.
 * It ends evaluations that take too long.
 */
export interface Meter {
  work(nanos: number): void
  /**
   * Like `work`, for work that the cost covers: it counts for the duration of the call, not for
   * that of the evaluation.
   */
  last(nanos: number): void
  /** Compiles a pattern once in an evaluation. */
  pattern(text: string): Pattern | CelError
  /** Pauses until the question is answered; the answer is the result of the call. */
  ask(question: Question): never
}

export type Signature = {
  readonly id: string
  readonly isMember?: boolean
  /** The receiver comes first. */
  readonly args: readonly Type[]
  readonly result: Type
}

/** One library's part of a function: other libraries may add overloads to the same name. */
export type FunctionPart = {
  readonly name: string
  readonly overloads: readonly Signature[]
  readonly run: (one: Value, two: Value, three: Value, four: Value, meter: Meter) => Result
  /**
   * Whether it may take much longer than its cost says: it charges the meter, and the evaluation
   * may pause after it.
   */
  readonly isLong?: boolean
  /**
   * Called at compile time for a call with constant arguments. Returns an implementation that has
   * done a part of the work, such as compiling a pattern, or the error that every call would
   * return.
   */
  readonly prepare?: (
    args: readonly (Value | undefined)[],
  ) => FunctionPart['run'] | CelError | undefined
  readonly estimate?: Estimate
  readonly cost?: RunCost
}

export type Overload = Signature & { readonly part: FunctionPart }

export type CelFunction = {
  readonly name: string
  readonly overloads: readonly Overload[]
  readonly parts: readonly FunctionPart[]
}

export function mergeFunctions(parts: readonly FunctionPart[]): ReadonlyMap<string, CelFunction> {
  const functions = new Map<string, CelFunction>()
  for (const part of parts) {
    const before = functions.get(part.name)
    const own = part.overloads.map((signature) => ({ ...signature, part }))
    functions.set(part.name, {
      name: part.name,
      overloads: [...(before?.overloads ?? []), ...own],
      parts: [...(before?.parts ?? []), part],
    })
  }
  return functions
}

export const global = (id: string, args: readonly Type[], result: Type): Signature => ({
  id,
  args,
  result,
})
export const member = (id: string, args: readonly Type[], result: Type): Signature => ({
  id,
  args,
  result,
  isMember: true,
})
