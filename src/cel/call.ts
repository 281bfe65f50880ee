/** Calls of functions: which implementation takes the arguments, and what the call costs. */
import type { FunctionPart, Overload } from './functions.ts'
import type { Step } from './run.ts'
import { CelError, noSuchOverload, type Result, type Value } from './values.ts'

/** Tries each library's share of a function until one takes the arguments. */
export function anyOf(parts: readonly FunctionPart[]): FunctionPart['run'] {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only.run
  return (one, two, three, four) => {
    for (const part of parts) {
      const result = part.run(one, two, three, four)
      if (result !== noSuchOverload) return result
    }
    return noSuchOverload
  }
}

type Costing = (args: readonly Value[], result: Result) => number

/** Where types leave several overloads open, upstream counts one, unless they all belong to one library's function. */
export function costOf(overload: Overload | undefined, overloads: readonly Overload[]): Costing | undefined {
  const cost = overload?.part.cost ?? sharedCost(overloads)
  if (cost === undefined) return undefined
  const id = overload?.id ?? ''
  return (args, result) => cost(args, result, id) ?? 1
}

function sharedCost(overloads: readonly Overload[]): FunctionPart['cost'] {
  const [first] = overloads
  return first !== undefined && overloads.every(({ part }) => part === first.part) ? first.part.cost : undefined
}

export function callStep(args: readonly Step[], call: FunctionPart['run'], cost: Costing | undefined): Step {
  const [first, second, third, fourth] = args
  if (first === undefined) return spending([], () => call(null, null, null, null), cost)
  if (second === undefined) {
    return (run) => {
      const one = first(run)
      if (one instanceof CelError) return one
      const result = call(one, null, null, null)
      run.spend(cost === undefined ? 1 : cost([one], result))
      return result
    }
  }
  if (third === undefined) {
    return (run) => {
      const one = first(run)
      if (one instanceof CelError) return one
      const two = second(run)
      if (two instanceof CelError) return two
      const result = call(one, two, null, null)
      run.spend(cost === undefined ? 1 : cost([one, two], result))
      return result
    }
  }
  return spending(args, (one, two, three, four) => call(one, two, three, fourth === undefined ? null : four), cost)
}

function spending(args: readonly Step[], call: FunctionPart['run'], cost: Costing | undefined): Step {
  return (run) => {
    const values: Value[] = []
    for (const arg of args) {
      const value = arg(run)
      if (value instanceof CelError) return value
      values.push(value)
    }
    const [one = null, two = null, three = null, four = null] = values
    const result = call(one, two, three, four)
    run.spend(cost === undefined ? 1 : cost(values, result))
    return result
  }
}
