/**
 * A checked expression to closures. Each evaluates one part and counts what it costs; names are looked up here once, so that
 * running does no more than index into arrays. Costs are counted as upstream's interpreter counts them: a chain of fields costs one
 * per link, and a chain that is a branch of a condition, an index or a test for presence has its first link for free.
 */
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from './ast.ts'
import type { Checked } from './checker.ts'
import { anyOf, callStep, costOf } from './call.ts'
import { IDENT_COST, LIST_COST, MAP_COST, STRUCT_COST } from './cost.ts'
import { longPatternFault } from './long-pattern.ts'
import { isLongPattern } from './regex.ts'
import { ComprehensionFrame, Run, type Slice, type Step } from './run.ts'
import { hasField, index, indexIfThere, selectField, selectIfThere } from './selection.ts'
import type { Turns } from './turns.ts'
import type { Type } from './types.ts'
import {
  type MapKey,
  ArrayList,
  CelError,
  HashMap,
  isKey,
  isList,
  isMap,
  MadeStruct,
  none,
  noSuchOverload,
  notIterable,
  Optional,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from './values.ts'

/** A constant call fails, so that the whole expression can never give a value there. */
export class PlanFault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function* plan(checked: Checked, slice: Slice): Turns<Step | PlanFault> {
  try {
    return (yield* new Planner(checked, slice).plan(checked.expr)).step
  } catch (error) {
    if (error instanceof PlanFault) return error
    throw error
  }
}

type Planned = { readonly step: Step; readonly constant?: Value }

type Locals = { readonly name: string; readonly slot: number; readonly outer: Locals | undefined }

class Planner {
  readonly #checked: Checked
  readonly #slice: Slice
  readonly #planned = new Map<Expr, Planned>()
  #locals: Locals | undefined
  #slots = 0

  constructor(checked: Checked, slice: Slice) {
    this.#checked = checked
    this.#slice = slice
  }

  /** Parts that a macro uses twice are planned once. */
  *plan(expr: Expr): Turns<Planned> {
    if (this.#slice.isOver()) yield undefined
    const planned = this.#planned.get(expr) ?? (yield* this.#planOne(expr))
    this.#planned.set(expr, planned)
    return planned
  }

  *#all(exprs: readonly Expr[]): Turns<Planned[]> {
    const all: Planned[] = []
    for (const expr of exprs) all.push(yield* this.plan(expr))
    return all
  }

  *#steps(exprs: readonly Expr[]): Turns<Step[]> {
    return (yield* this.#all(exprs)).map(({ step }) => step)
  }

  *#planOne(expr: Expr): Turns<Planned> {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value)
      case 'ident':
      case 'select':
        return yield* this.#chain(expr, IDENT_COST)
      case 'call':
        return yield* this.#call(expr)
      case 'list':
        return yield* this.#list(expr)
      case 'map':
        return yield* this.#map(expr)
      case 'comprehension':
        return { step: yield* this.#comprehension(expr) }
      case 'struct':
        return { step: yield* this.#struct(expr) }
      case 'missing':
        throw new PlanFault('an object cannot be made')
    }
  }

  /** A name with fields and indexes behind it. `first` is what the name costs. */
  *#chain(expr: Expr, first: number): Turns<Planned> {
    const reference = this.#checked.referenceOf(expr)
    if (reference?.kind === 'type') return constant(new TypeValue(nameOfType(reference.type)))
    if (reference?.kind === 'variable') return { step: this.#variable(reference.name, first) }
    if (expr.kind === 'select') return { step: yield* this.#select(expr, first) }
    if (expr.kind === 'call' && expr.name === '_[_]') return { step: yield* this.#index(expr, first) }
    return yield* this.plan(expr)
  }

  #variable(name: string, cost: number): Step {
    for (let local = this.#locals; local !== undefined; local = local.outer) {
      if (local.name !== name) continue
      const { slot } = local
      return (run) => {
        run.spend(cost)
        return run.locals[slot] ?? null
      }
    }
    return (run) => {
      run.spend(cost)
      const value = run.activation[name]
      return value === undefined ? missingVariable(name) : value
    }
  }

  /** The operand of a field or an index: part of the chain, or the start of a new one, which costs as a name does. */
  *#operand(expr: Expr, first: number): Turns<Step> {
    const isChain = expr.kind === 'ident' || expr.kind === 'select' || (expr.kind === 'call' && expr.name === '_[_]')
    if (isChain && !(expr.kind === 'select' && expr.isTest)) return (yield* this.#chain(expr, first)).step
    const { step } = yield* this.plan(expr)
    return (run) => {
      const value = step(run)
      run.spend(first)
      return value
    }
  }

  *#select(expr: Select, first: number): Turns<Step> {
    const { field, isTest } = expr
    const operand = yield* this.#operand(expr.operand, isTest ? 0 : first)
    if (isTest) {
      return (run) => {
        const value = operand(run)
        return value instanceof CelError ? value : hasField(value, field)
      }
    }
    return (run) => {
      const value = operand(run)
      if (value instanceof CelError) return value
      run.spend(IDENT_COST)
      return selectField(value, field)
    }
  }

  *#index(expr: Call, first: number): Turns<Step> {
    const [collection, at] = expr.args
    if (collection === undefined || at === undefined) return () => noSuchOverload
    const operand = yield* this.#operand(collection, first)
    const position = (yield* this.#chain(at, 0)).step
    return (run) => {
      const value = operand(run)
      if (value instanceof CelError) return value
      const key = position(run)
      if (key instanceof CelError) return key
      run.spend(IDENT_COST)
      return index(value, key)
    }
  }

  *#call(expr: Call): Turns<Planned> {
    switch (expr.name) {
      case '_&&_':
        return { step: yield* this.#logical(expr, false) }
      case '_||_':
        return { step: yield* this.#logical(expr, true) }
      case '_?_:_':
        return { step: yield* this.#conditional(expr) }
      case '_[_]':
        return { step: yield* this.#index(expr, IDENT_COST) }
      case '_?._':
      case '_[?_]':
        return { step: yield* this.#optionalSelect(expr) }
      case '@not_strictly_false':
        return { step: yield* this.#notStrictlyFalse(expr) }
      case 'cel.@mapInsert':
        return { step: yield* this.#mapInsert(expr) }
      case 'or':
      case 'orValue':
        return { step: yield* this.#or(expr) }
      default:
        return yield* this.#function(expr)
    }
  }

  /** `false && error` is false from either side; `decisive` is the value that decides. */
  *#logical(expr: Call, decisive: boolean): Turns<Step> {
    const [left, right] = yield* this.#steps(expr.args)
    if (left === undefined || right === undefined) return () => noSuchOverload
    return (run) => {
      const one = left(run)
      if (one === decisive) return decisive
      const other = right(run)
      if (other === decisive) return decisive
      if (typeof one === 'boolean' && typeof other === 'boolean') return !decisive
      if (one instanceof CelError) return one
      return other instanceof CelError ? other : noSuchOverload
    }
  }

  *#conditional(expr: Call): Turns<Step> {
    const [test, then, otherwise] = expr.args
    if (test === undefined || then === undefined || otherwise === undefined) return () => noSuchOverload
    const { step: condition } = yield* this.plan(test)
    const [yes, no] = [(yield* this.#chain(then, 0)).step, (yield* this.#chain(otherwise, 0)).step]
    return (run) => {
      const value = condition(run)
      if (value === true) return yes(run)
      if (value === false) return no(run)
      return value instanceof CelError ? value : noSuchOverload
    }
  }

  *#notStrictlyFalse(expr: Call): Turns<Step> {
    const [arg] = yield* this.#steps(expr.args)
    return (run) => {
      const value = arg?.(run)
      run.spend(1)
      return value !== false
    }
  }

  *#optionalSelect(expr: Call): Turns<Step> {
    const [target, key] = expr.args
    if (target === undefined || key === undefined) return () => noSuchOverload
    const operand = yield* this.#operand(target, IDENT_COST)
    const position = (yield* this.#chain(key, 0)).step
    const isField = expr.name === '_?._'
    return (run) => {
      const given = operand(run)
      if (given instanceof CelError) return given
      const at = position(run)
      if (at instanceof CelError) return at
      run.spend(IDENT_COST)
      const value = given instanceof Optional ? given.value : given
      if (value === undefined) return none
      const found = isField && typeof at === 'string' ? selectIfThere(value, at) : indexIfThere(value, at)
      return found instanceof CelError ? found : new Optional(found)
    }
  }

  /** The other value is looked at only where there is none. */
  *#or(expr: Call): Turns<Planned['step']> {
    const target = expr.target === undefined ? undefined : (yield* this.plan(expr.target)).step
    const [other] = yield* this.#steps(expr.args)
    const isPlain = expr.name === 'orValue'
    if (target === undefined || other === undefined) return () => noSuchOverload
    return (run) => {
      const value = target(run)
      if (value instanceof CelError) return value
      if (!(value instanceof Optional)) return noSuchOverload
      run.spend(1)
      if (value.value !== undefined) return isPlain ? value.value : value
      return other(run)
    }
  }

  *#mapInsert(expr: Call): Turns<Step> {
    const [target, ...rest] = yield* this.#steps(expr.args)
    if (target === undefined) return () => noSuchOverload
    return (run) => {
      const map = target(run)
      if (!(map instanceof HashMap)) return map instanceof CelError ? map : noSuchOverload
      const values: Value[] = []
      for (const step of rest) {
        const value = step(run)
        if (value instanceof CelError) return value
        values.push(value)
      }
      run.spend(1)
      if (!map.isLast) run.work(map.size * COPIED_NANOS)
      return insert(map, values)
    }
  }

  *#function(expr: Call): Turns<Planned> {
    const reference = this.#checked.referenceOf(expr)
    if (reference?.kind !== 'call') throw new PlanFault(`no such function: ${expr.name}`)
    const parts = reference.isMember && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args
    const args = yield* this.#all(parts)
    const overload = reference.overloads.length === 1 ? reference.overloads[0] : undefined
    // Nothing is in it, so that what is looked for is not looked at.
    const [, second] = args
    if (expr.name === '@in' && second?.constant !== undefined && isEmptyList(second.constant)) return constant(false)
    const pattern = overload?.part.isLong === true ? second?.constant : undefined
    if (typeof pattern === 'string' && isLongPattern(pattern)) {
      const fault = yield* longPatternFault(pattern)
      if (fault !== undefined) throw new PlanFault(fault.message)
    }
    const prepared = overload?.part.prepare?.(args.map(({ constant: value }) => value))
    if (prepared instanceof CelError) throw new PlanFault(prepared.message)
    // A conversion of a constant is a constant.
    if (prepared !== undefined && args.length === 1 && !reference.isMember) {
      const value = prepared(null, null, null, null, new Run({}, 0))
      if (!(value instanceof CelError)) return constant(value)
    }
    const run = prepared ?? overload?.part.run ?? anyOf(reference.fn.parts)
    return {
      step: callStep(
        args.map(({ step }) => step),
        run,
        { cost: costOf(overload, reference.overloads), isLong: reference.overloads.some(({ part }) => part.isLong) },
      ),
    }
  }

  *#list(expr: ListExpr): Turns<Planned> {
    const elements = yield* this.#all(expr.elements)
    const build: Step = (run) => {
      const items: Value[] = []
      for (let at = 0; at < elements.length; at++) {
        const value = elements[at]?.step(run) ?? null
        if (value instanceof CelError) return value
        if (!expr.optional.has(at)) items.push(value)
        else if (!(value instanceof Optional)) return noSuchOverload
        else if (value.value !== undefined) items.push(value.value)
      }
      run.spend(LIST_COST)
      return new ArrayList(items)
    }
    return folded(build, elements)
  }

  *#map(expr: MapExpr): Turns<Planned> {
    const entries: { readonly key: Planned; readonly value: Planned; readonly isOptional: boolean }[] = []
    for (const { key, value, isOptional } of expr.entries) {
      entries.push({ key: yield* this.plan(key), value: yield* this.plan(value), isOptional })
    }
    const build: Step = (run) => {
      const given: (readonly [MapKey, Value])[] = []
      for (const entry of entries) {
        const key = entry.key.step(run)
        if (key instanceof CelError) return key
        let value = entry.value.step(run)
        if (value instanceof CelError) return value
        if (entry.isOptional) {
          if (!(value instanceof Optional)) return noSuchOverload
          if (value.value === undefined) continue
          value = value.value
        }
        if (!isKey(key)) return unsupportedKey(key)
        given.push([key, value])
      }
      run.spend(MAP_COST)
      return HashMap.of(given)
    }
    return folded(
      build,
      entries.flatMap(({ key, value }) => [key, value]),
    )
  }

  *#struct({ name, fields }: StructExpr): Turns<Step> {
    const parts = yield* this.#all(fields.map(({ value }) => value))
    return (run) => {
      const values = new Map<string, Value>()
      for (const [at, field] of fields.entries()) {
        const value = parts[at]?.step(run) ?? null
        if (value instanceof CelError) return value
        if (!field.isOptional) values.set(field.name, value)
        else if (!(value instanceof Optional)) return noSuchOverload
        else if (value.value !== undefined) values.set(field.name, value.value)
      }
      run.spend(STRUCT_COST)
      return new MadeStruct(name.replace(/^\./, ''), values)
    }
  }

  *#comprehension(expr: Comprehension): Turns<Step> {
    const { step: range } = yield* this.plan(expr.range)
    const { step: initial } = yield* this.plan(expr.initial)
    const outer = this.#locals
    const [accumulator, first, second] = [this.#slots++, this.#slots++, this.#slots++]
    const inner: Locals = { name: expr.accumulator, slot: accumulator, outer }
    this.#locals = { name: expr.variable, slot: first, outer: inner }
    if (expr.variable2 !== undefined) this.#locals = { name: expr.variable2, slot: second, outer: this.#locals }
    const { step: condition } = yield* this.plan(expr.condition)
    const { step: next } = yield* this.plan(expr.step)
    this.#locals = inner
    const { step: result } = yield* this.plan(expr.result)
    this.#locals = outer
    const isPair = expr.variable2 !== undefined
    const begin = (run: Run, place: number): ComprehensionFrame | CelError => {
      const collection = range(run)
      if (collection instanceof CelError) return collection
      const start = initial(run)
      if (start instanceof CelError) return start
      if (!isList(collection) && !isMap(collection)) return notIterable(collection)
      return new ComprehensionFrame(run, place, { collection, initial: start })
    }
    return (run) => {
      const { frame, locals } = run
      const place = frame.entered++
      const known = frame.known?.get(place)
      if (known !== undefined && !(known instanceof ComprehensionFrame)) return run.recall(frame, known)
      const loop = known ?? begin(run, place)
      if (loop instanceof CelError) return loop
      run.startLoop(loop)
      const { collection, keys, size } = loop
      locals[accumulator] = loop.accumulated
      for (; loop.at < size; loop.at++) {
        run.startTurn(loop)
        const { at } = loop
        if (isList(collection)) {
          const item = collection.at(at)
          locals[first] = isPair ? BigInt(at) : item
          locals[second] = item
        } else {
          const key = keys?.[at] ?? null
          locals[first] = key
          locals[second] = isPair ? (collection.get(key) ?? null) : null
        }
        if (condition(run) !== true) break
        loop.accumulated = locals[accumulator] = next(run)
        loop.known = undefined
      }
      if (loop.at === size) loop.entered = 0
      return run.endLoop(loop, result(run))
    }
  }
}

/** An entry of a map that is copied. */
const COPIED_NANOS = 100

const constant = (value: Value): Planned => ({ step: () => value, constant: value })

/** A list or a map of constants is made once, and using it costs nothing. */
function folded(build: Step, parts: readonly Planned[]): Planned {
  if (!parts.every((part) => part.constant !== undefined)) return { step: build }
  const value = build(new Run({}, Number.POSITIVE_INFINITY))
  return value instanceof CelError ? { step: build } : constant(value)
}

const isEmptyList = (value: Value): boolean => isList(value) && value.size === 0

const missingVariable = (name: string): CelError => new CelError(`no such attribute(s): ${name}`)

function nameOfType(type: Type): string {
  if ('name' in type) return type.name
  const names: { readonly [kind: string]: string } = {
    null: 'null_type',
    timestamp: 'google.protobuf.Timestamp',
    duration: 'google.protobuf.Duration',
  }
  return names[type.kind] ?? type.kind
}

/** One entry by key and value, or those of a map. */
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

const unsupportedKey = (key: Value): CelError => new CelError(`unsupported key type: ${typeNameOf(key)}`)

function insertEntry(map: HashMap, key: Value, value: Value): HashMap | CelError {
  if (!isKey(key)) return unsupportedKey(key)
  const text = key instanceof Uint ? key.value : key
  return map.with(key, value) ?? new CelError(`insert failed: key ${text} already exists`)
}
