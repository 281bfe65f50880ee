/**
 * Steps that evaluate operators and charge their costs. plan.ts creates the steps of their
 * operands.
 */
import { IDENT_COST } from './cost.ts'
import { LaterResult } from './question.ts'
import type { Run, Step } from './run.ts'
import { hasField, index, indexIfThere, selectField, selectIfThere } from './selection.ts'
import {
  CelError,
  HashMap,
  isKey,
  isMap,
  LazyStruct,
  none,
  noSuchOverload,
  Optional,
  type Result,
  Uint,
  unsupportedKey,
  type Value,
} from './values.ts'

/** Estimated time to copy an entry of a map. */
const COPIED_NANOS = 100

export const selectStep =
  (operand: Step, field: string): Step =>
  (run) => {
    const value = operand(run)
    if (value instanceof CelError) return value
    run.spend(IDENT_COST)
    if (!(value instanceof LazyStruct)) return selectField(value, field)
    const found = lazyField(value, field, run)
    return found === undefined ? new CelError(`no such key: ${field}`) : found
  }

/**
 * Reads a field. Returns undefined if the field does not exist. If the evaluation must wait for the
 * value, it is interrupted. When it resumes, it finds the value by the number of this read.
 */
function lazyField(struct: LazyStruct, field: string, run: Run): Result | undefined {
  const { frame } = run
  const place = run.startCall()
  const known = frame.known?.get(place)
  if (known !== undefined && 'value' in known) return run.recall(frame, known)
  const result = struct.read(field)
  if (result instanceof Promise) return run.ask(new LaterResult(result))
  return result === undefined ? undefined : run.endCall(place, result)
}

/** Evaluates `has(operand.field)`. */
export const presenceStep =
  (operand: Step, field: string): Step =>
  (run) => {
    const value = operand(run)
    if (value instanceof CelError) return value
    if (!(value instanceof LazyStruct)) return hasField(value, field)
    const found = lazyField(value, field, run)
    return found instanceof CelError ? found : found !== undefined
  }

export const indexStep =
  (operand: Step, position: Step): Step =>
  (run) => {
    const value = operand(run)
    if (value instanceof CelError) return value
    const key = position(run)
    if (key instanceof CelError) return key
    run.spend(IDENT_COST)
    return index(value, key)
  }

/** Evaluates `a.?b` if `isField` is set, and `a[?b]` otherwise. */
export const optionalSelectStep =
  (operand: Step, position: Step, isField: boolean): Step =>
  (run) => {
    const given = operand(run)
    if (given instanceof CelError) return given
    const at = position(run)
    if (at instanceof CelError) return at
    run.spend(IDENT_COST)
    const value = given instanceof Optional ? given.value : given
    if (value === undefined) return none
    const found =
      value instanceof LazyStruct && typeof at === 'string'
        ? lazyField(value, at, run)
        : isField && typeof at === 'string'
          ? selectIfThere(value, at)
          : indexIfThere(value, at)
    return found instanceof CelError ? found : new Optional(found)
  }

/**
 * Evaluates `&&` or `||`. If one operand has the value `decisive`, this is the result, even if the
 * other operand is an error. For example, both `false && error` and `error && false` are false.
 */
export const logicalStep =
  (left: Step, right: Step, decisive: boolean): Step =>
  (run) => {
    const one = left(run)
    if (one === decisive) return decisive
    const other = right(run)
    if (other === decisive) return decisive
    if (typeof one === 'boolean' && typeof other === 'boolean') return !decisive
    if (one instanceof CelError) return one
    return other instanceof CelError ? other : noSuchOverload
  }

export const conditionalStep =
  (condition: Step, then: Step, otherwise: Step): Step =>
  (run) => {
    const value = condition(run)
    if (value === true) return then(run)
    if (value === false) return otherwise(run)
    return value instanceof CelError ? value : noSuchOverload
  }

export const notStrictlyFalseStep =
  (operand: Step | undefined): Step =>
  (run) => {
    const value = operand?.(run)
    run.spend(1)
    return value !== false
  }

/**
 * Evaluates `orValue` if `isPlain` is true, and `or` otherwise. `other` is evaluated only if the
 * optional value is empty.
 */
export const orStep =
  (optional: Step, other: Step, isPlain: boolean): Step =>
  (run) => {
    const value = optional(run)
    if (value instanceof CelError) return value
    if (!(value instanceof Optional)) return noSuchOverload
    run.spend(1)
    if (value.value !== undefined) return isPlain ? value.value : value
    return other(run)
  }

/** Adds entries to a map. `given` is either a key and a value, or a map. */
export const mapInsertStep =
  (target: Step, given: readonly Step[]): Step =>
  (run) => {
    const map = target(run)
    if (!(map instanceof HashMap)) return map instanceof CelError ? map : noSuchOverload
    const values: Value[] = []
    for (const step of given) {
      const value = step(run)
      if (value instanceof CelError) return value
      values.push(value)
    }
    run.spend(1)
    if (!map.isLast) run.work(map.size * COPIED_NANOS)
    return insert(map, values)
  }

/** Inserts a single entry, or all entries of a map. */
function insert(map: HashMap, values: readonly Value[]): HashMap | CelError {
  const [first = null, second] = values
  if (second !== undefined) return insertEntry(map, first, second)
  if (!isMap(first)) return noSuchOverload
  let made = map
  for (const key of first.keys()) {
    const next = insertEntry(made, key, first.get(key) ?? null)
    if (next instanceof CelError) return next
    made = next
  }
  return made
}

function insertEntry(map: HashMap, key: Value, value: Value): HashMap | CelError {
  if (!isKey(key)) return unsupportedKey(key)
  const text = key instanceof Uint ? key.value : key
  return map.with(key, value) ?? new CelError(`insert failed: key ${text} already exists`)
}
