/**
 * Functions as libraries declare them. A function has overloads for the type checker, and a single
 * implementation for all of them. The implementation checks the types of its arguments, which
 * arguments of type dyn require anyway.
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
  /** Returns the size of the items of a list. */
  readonly elementSize: () => Range
}

export type CallEstimate = { readonly cost: Range; readonly size?: Range }

/** Estimates a call. The receiver of a member call is the first operand. */
export type Estimate = (operands: readonly Operand[], overload: string) => CallEstimate | undefined
export type RunCost = (
  args: readonly Value[],
  result: Result,
  overload: string,
) => number | undefined

/**
 * Limits the time of an evaluation. Before a function starts work that its cost does not cover, it
 * charges the meter, in nanoseconds. The meter aborts evaluations that take too long.
 */
export interface Meter {
  work(nanos: number): void
  /**
   * Like `work`, but for work that the cost covers, which is not limited. It counts toward the
   * duration of the call, which decides whether the result is remembered.
   */
  last(nanos: number): void
  /** Compiles a pattern, once per evaluation. */
  pattern(text: string): Pattern | CelError
  /** Pauses until the question is answered. The answer becomes the result of the call. */
  ask(question: Question): never
}

export type Signature = {
  readonly id: string
  readonly isMember?: boolean
  /** Types of the arguments. The receiver comes first. */
  readonly args: readonly Type[]
  readonly result: Type
}

/** One library's part of a function. Other libraries may add overloads to the same name. */
export type FunctionPart = {
  readonly name: string
  readonly overloads: readonly Signature[]
  readonly run: (one: Value, two: Value, three: Value, four: Value, meter: Meter) => Result
  /**
   * Whether the function may take much longer than its cost says. It then charges the meter, and
   * the evaluation may pause after it.
   */
  readonly isLong?: boolean
  /**
   * Called at compile time for a call with constant arguments. Returns an implementation that has
   * already done a part of the work, such as compiling a pattern. Returns the error instead if
   * every call would fail with it.
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
