/**
 * Declarations of the functions of which CEL libraries consist. A function has several overloads
 * for the type checker, but a single implementation. The implementation checks the types of its
 * arguments, which is necessary for arguments of type dyn.
 */
import type { Expr } from './ast.ts'
import type { Question } from './question.ts'
import type { Pattern } from './regex.ts'
import type { Type } from './types.ts'
import type { CelError, Result, Value } from './values.ts'

/** Minimum and maximum of a size or cost. */
export type Range = { readonly min: bigint; readonly max: bigint }

/** Facts about an argument that are known before the evaluation. */
export type Operand = {
  readonly expr: Expr
  readonly type: Type
  readonly size: Range
  /** Returns the size of the items, if the argument is a list. */
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
 * Limits the time of an evaluation. A function that starts work not covered by its cost first
 * charges the meter with the expected time in nanoseconds. The meter aborts evaluations that take
 * too long.
 */
export interface Meter {
  work(nanos: number): void
  /**
   * Like `work`, but for work that the cost covers. This work is not limited, but it counts toward
   * the duration of the call, which determines whether its result is cached.
   */
  last(nanos: number): void
  /** Compiles a pattern. The result is cached during the evaluation. */
  pattern(text: string): Pattern | CelError
  /**
   * Interrupts the evaluation until the result that `question` describes is available. This result
   * becomes the result of the call.
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
 * The part of a function that one library defines. Other libraries can add overloads under the same
 * name.
 */
export type FunctionPart = {
  readonly name: string
  readonly overloads: readonly Signature[]
  readonly run: (one: Value, two: Value, three: Value, four: Value, meter: Meter) => Result
  /**
   * Whether the function can take much longer than its cost indicates. Such a function must charge
   * the meter, and the evaluation can be interrupted after the call.
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
