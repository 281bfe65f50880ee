/**
 * Functions as libraries declare them. A function has overloads, which the checker picks from, and one implementation for all of
 * them, which looks at what it is given: arguments of unknown type need that anyway.
 */
import type { Expr } from './ast.ts'
import type { Pattern, PatternQuestion } from './regex.ts'
import type { Type } from './types.ts'
import type { CelError, Result, Value } from './values.ts'

/** How large a text or a collection may be. */
export type Range = { readonly min: number; readonly max: number }

/** An argument, as far as it is known before the expression runs. */
export type Operand = {
  readonly expr: Expr
  readonly type: Type
  readonly size: Range
  /** Of the items of a list. */
  readonly elementSize: () => Range
}

export type CallEstimate = { readonly cost: Range; readonly size?: Range }

/** For a call with a receiver, the receiver is the first operand. */
export type Estimate = (operands: readonly Operand[], overload: string) => CallEstimate | undefined
export type RunCost = (args: readonly Value[], result: Result, overload: string) => number | undefined

/** Told by functions what they are about to do beyond what their costs say, in nanoseconds, and ends what takes too long. */
export interface Meter {
  work(nanos: number): void
  /** The same of what costs pay for: only whether the call is long depends on it. */
  last(nanos: number): void
  /** Compiled once in an evaluation. */
  pattern(text: string): Pattern | CelError
  /** Stops until somebody has answered; the answer is then what the call came to. */
  ask(question: PatternQuestion): never
}

export type Signature = {
  readonly id: string
  readonly isMember?: boolean
  /** The receiver first. */
  readonly args: readonly Type[]
  readonly result: Type
}

/** One library's share of a function: others may add overloads to the same name. */
export type FunctionPart = {
  readonly name: string
  readonly overloads: readonly Signature[]
  readonly run: (one: Value, two: Value, three: Value, four: Value, meter: Meter) => Result
  /** What it takes may be much more than what it costs: it tells the meter, and evaluation may pause behind it. */
  readonly isLong?: boolean
  /**
   * For a call with constant arguments, asked once when the expression is compiled: an implementation that has done its part of
   * the work, such as compiling a pattern, or an error that every call would give.
   */
  readonly prepare?: (args: readonly (Value | undefined)[]) => FunctionPart['run'] | CelError | undefined
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

export const global = (id: string, args: readonly Type[], result: Type): Signature => ({ id, args, result })
export const member = (id: string, args: readonly Type[], result: Type): Signature => ({
  id,
  args,
  result,
  isMember: true,
})
