/**
 * Calls functions: selects the implementation that accepts the arguments, and adds the cost of the
 * call.
 */
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
  typeNameOf,
  type Value,
} from './values.ts'

/**
 * Returns a function that calls the implementations of all libraries, one after another, until one
 * of them accepts the arguments.
 */
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

/** Functions for which kube-apiserver's error about wrong arguments does not contain the name. */
const unnamed: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'contains', '@in', '!_'])
/**
 * Functions for which kube-apiserver selects the implementation by the first argument alone. It
 * does the same for operators.
 */
const selectedByFirst: ReadonlySet<string> = new Set(['size', 'matches'])

/**
 * Returns a function that reports null arguments as kube-apiserver does. For an operator, the
 * message contains its name if the first argument is null. For most functions, it contains the name
 * and the types of all arguments.
 */
export function withNamedFault(
  name: string,
  count: number,
  run: FunctionPart['run'],
): FunctionPart['run'] {
  if (unnamed.has(name)) return run
  const isOperator = name.endsWith('_') || selectedByFirst.has(name)
  return (one, two, three, four, meter) => {
    const result = run(one, two, three, four, meter)
    if (result !== noSuchOverload) return result
    if (isOperator) return one === null ? new CelError(`no such overload: ${name}`) : result
    const args = [one, two, three, four].slice(0, count)
    if (!args.includes(null)) return result
    const types = args.map(typeNameOf)
    return new CelError(`no such overload: ${name}(${types.join(', ')})`)
  }
}

type Costing = (args: readonly Value[], result: Result) => number

/**
 * Returns the function that computes the cost of a call. Undefined if the cost is always one.
 * kube-apiserver also charges one if type-checking leaves several overloads, unless all of them
 * belong to the same library function.
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

/** Whether a value is so large that a function could take noticeable time. */
function isLarge(value: Value): boolean {
  if (typeof value === 'string') return value.length > LARGE_CHARACTERS
  if (typeof value !== 'object' || value === null) return false
  // A list that the expression has created does not count as large. The creation of its items was
  // already charged, and most calls append only one item.
  if (value instanceof ArrayList || value instanceof Timestamp || value instanceof Duration)
    return false
  return !isList(value) || value.size > LARGE_ITEMS
}

const LARGE_CHARACTERS = 200
const LARGE_ITEMS = 10

/**
 * Returns a function that makes the call. It can interrupt the evaluation: after the call if the
 * time slice is over, or during the call if the call needs a result that is not available yet
 * (question.ts).
 */
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

/**
 * Returns the estimated time to visit each character of a string once. Functions that take longer
 * than this charge their time themselves.
 */
const nanosOf = (value: Result): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length * CHARACTER_NANOS : 0

/** Estimated time to visit one character. */
const CHARACTER_NANOS = 2
/** Estimated time of work that has a cost of one. */
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
