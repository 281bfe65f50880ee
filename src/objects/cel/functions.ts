/**
 * Types for the functions that CEL libraries declare. A function has several overloads for the type
 * checker, but only one implementation. The implementation must check the types of its arguments,
 * because the checker cannot do this for arguments of type dyn.
 */
import type { Expr } from './ast.ts'
import type { Question } from './question.ts'
import type { Pattern } from './regex.ts'
import type { Type } from './types.ts'
import type { CelError, Result, Value } from './values.ts'

/** Minimum and maximum of a size or cost. */
export type Range = { readonly min: bigint; readonly max: bigint }

/** Known properties of an argument before the evaluation. */
export type Operand = {
  readonly expr: Expr
  readonly type: Type
  readonly size: Range
  /** Returns the size of the items, if the argument is a list. */
  readonly elementSize: () => Range
}

export type CallEstimate = { readonly cost: Range; readonly size?: Range }

/**
 * Estimates the cost and size of a call. If the function is called on a receiver, the receiver is
 * the first operand.
 */
export type Estimate = (operands: readonly Operand[], overload: string) => CallEstimate | undefined
export type RunCost = (
  args: readonly Value[],
  result: Result,
  overload: string,
) => number | undefined

/**
 * Limits the time of an evaluation. Before a function starts work that its cost does not cover, it
 * charges the expected time in nanoseconds. If an evaluation takes too long, the meter aborts it.
 */
export interface Meter {
  work(nanos: number): void
  /**
   * Charges time for work that the cost covers. It is not limited, but it is part of the duration
   * of the call, which determines whether the result is cached.
   */
  last(nanos: number): void
  /** Compiles a pattern. The result is cached during the evaluation. */
  pattern(text: string): Pattern | CelError
  /**
   * Interrupts the evaluation until the answer to `question` is available. The answer becomes the
   * result of the call.
   */
  ask(question: Question): never
}

export type Signature = {
  readonly id: string
  readonly isMember?: boolean
  /** Types of the arguments. The first one is the receiver if there is one. */
  readonly args: readonly Type[]
  readonly result: Type
}

/**
 * The part of a function that one library contributes. Another library can add more overloads to
 * the same function.
 */
export type FunctionPart = {
  readonly name: string
  readonly overloads: readonly Signature[]
  readonly run: (one: Value, two: Value, three: Value, four: Value, meter: Meter) => Result
  /**
   * Whether a call can take much longer than its cost suggests. The function must then charge the
   * meter, and the evaluation can be interrupted after a call.
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
