/** Calls of functions: which implementation accepts the arguments, and what the call costs. */
import type { FunctionPart, Overload } from './functions.ts'
import type { Run, Step } from './run.ts'
import {
  ArrayList,
  CelError,
  Duration,
  isList,
  noSuchOverload,
  type Result,
  Timestamp,
  type Value,
} from './values.ts'

/** Tries the implementation of each library until one accepts the arguments. */
export function anyOf(parts: readonly FunctionPart[]): FunctionPart['run'] {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only.run
  return (one, two, three, four, meter) => {
    for (const part of parts) {
      const result = part.run(one, two, three, four, meter)
      if (result !== noSuchOverload) return result
    }
    return noSuchOverload
  }
}

type Costing = (args: readonly Value[], result: Result) => number

/**
 * If the checker leaves several overloads open, upstream charges a cost of one, unless they all
 * belong to one library's function.
 */
export function costOf(
  overload: Overload | undefined,
  overloads: readonly Overload[],
): Costing | undefined {
  const cost = overload?.part.cost ?? sharedCost(overloads)
  if (cost === undefined) return undefined
  const id = overload?.id ?? ''
  return (args, result) => cost(args, result, id) ?? 1
}

function sharedCost(overloads: readonly Overload[]): FunctionPart['cost'] {
  const [first] = overloads
  return first !== undefined && overloads.every(({ part }) => part === first.part)
    ? first.part.cost
    : undefined
}

type CallOptions = { readonly cost: Costing | undefined; readonly isLong: boolean }

export function callStep(
  args: readonly Step[],
  call: FunctionPart['run'],
  options: CallOptions,
): Step {
  const { cost, isLong } = options
  const [first, second, third] = args
  const long = longCall(call, cost)
  if (first === undefined || third !== undefined || isLong) {
    return (run) => {
      const values = valuesOf(args, run)
      return values instanceof CelError ? values : long(values, run)
    }
  }
  if (second === undefined) {
    return (run) => {
      const one = first(run)
      if (one instanceof CelError) return one
      if (isLarge(one)) return long([one], run)
      const result = call(one, null, null, null, run)
      run.spend(cost === undefined ? 1 : cost([one], result))
      return result
    }
  }
  return (run) => {
    const one = first(run)
    if (one instanceof CelError) return one
    const two = second(run)
    if (two instanceof CelError) return two
    if (isLarge(one) || isLarge(two)) return long([one, two], run)
    const result = call(one, two, null, null, run)
    run.spend(cost === undefined ? 1 : cost([one, two], result))
    return result
  }
}

/** Most functions take hardly any time with smaller values. */
function isLarge(value: Value): boolean {
  if (typeof value === 'string') return value.length > LARGE_CHARACTERS
  if (typeof value !== 'object' || value === null) return false
  // A list that the expression made was already paid for by its items, and most calls only append
  // one more.
  if (value instanceof ArrayList || value instanceof Timestamp || value instanceof Duration)
    return false
  return !isList(value) || value.size > LARGE_ITEMS
}

const LARGE_CHARACTERS = 200
const LARGE_ITEMS = 10

/** A call after which the evaluation may pause, or which may pause for an answer. */
function longCall(
  call: FunctionPart['run'],
  cost: Costing | undefined,
): (values: readonly Value[], run: Run) => Result {
  return (values, run) => {
    const { frame } = run
    const place = run.startCall()
    const known = frame.known?.get(place)
    if (known !== undefined && 'value' in known) {
      const value = run.recall(frame, known)
      if (known.isUnpaid) run.spend(cost === undefined ? 1 : cost(values, value))
      return value
    }
    for (const value of values) run.work(nanosOf(value))
    const [one = null, two = null, three = null, four = null] = values
    const result = call(one, two, three, four, run)
    const costs = cost === undefined ? 1 : cost(values, result)
    run.spend(costs)
    run.last(costs * COST_NANOS)
    run.work(nanosOf(result))
    return run.endCall(place, result)
  }
}

/** To visit a string once. Functions that take longer charge the meter themselves. */
const nanosOf = (value: Result): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length * CHARACTER_NANOS : 0

const CHARACTER_NANOS = 2
/** The time that a unit of cost stands for. */
const COST_NANOS = 50

function valuesOf(args: readonly Step[], run: Run): Value[] | CelError {
  const values: Value[] = []
  for (const arg of args) {
    const value = arg(run)
    if (value instanceof CelError) return value
    values.push(value)
  }
  return values
}
