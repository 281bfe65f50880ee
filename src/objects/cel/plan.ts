/**
 * Compiles an expression to JavaScript closures, called steps. Each step evaluates one
 * subexpression and charges its cost. Names are resolved here, so that the evaluation only needs
 * array indexes. The steps are in operator-steps.ts, literal-steps.ts, comprehension-step.ts and,
 * for functions, in call.ts.
 *
 * Costs are the same as in kube-apiserver's interpreter. In a chain of fields such as `a.b.c`, each
 * field has a cost of one. The first one is free if the chain is a branch of a conditional, an
 * index, or the argument of `has`.
 */
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from './ast.ts'
import type { CheckedExpression } from './checker.ts'
import { anyOf, callStep, costOf, withNamedFault } from './call.ts'
import { comprehensionStep } from './comprehension-step.ts'
import { IDENT_COST } from './cost.ts'
import { listStep, mapStep, structStep } from './literal-steps.ts'
import { longPatternFault } from './long-pattern.ts'
import {
  conditionalStep,
  indexStep,
  logicalStep,
  mapInsertStep,
  notStrictlyFalseStep,
  optionalSelectStep,
  orStep,
  presenceStep,
  selectStep,
} from './operator-steps.ts'
import { isLongPattern } from './regex.ts'
import { Run, type Slice, type Step } from './run.ts'
import type { Turns } from './turns.ts'
import type { Type } from './types.ts'
import { CelError, isList, noSuchOverload, TypeValue, type Value } from './values.ts'

/**
 * The error that is reported if a call with constant arguments fails. The expression can then never
 * have a value.
 */
export class PlanFault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function* plan(checked: CheckedExpression, slice: Slice): Turns<Step | PlanFault> {
  try {
    return (yield* new Planner(checked, slice).plan(checked.expr)).step
  } catch (error) {
    if (error instanceof PlanFault) return error
    throw error
  }
}

type PlannedStep = { readonly step: Step; readonly constant?: Value }

type Locals = { readonly name: string; readonly slot: number; readonly outer: Locals | undefined }

class Planner {
  readonly #checked: CheckedExpression
  readonly #slice: Slice
  readonly #planned = new Map<Expr, PlannedStep>()
  #locals: Locals | undefined
  #slots = 0

  constructor(checked: CheckedExpression, slice: Slice) {
    this.#checked = checked
    this.#slice = slice
  }

  /**
   * Compiles an expression to a step. A macro can use the same subexpression several times. Such a
   * subexpression is compiled once.
   */
  *plan(expr: Expr): Turns<PlannedStep> {
    if (this.#slice.isOver()) yield undefined
    const planned = this.#planned.get(expr) ?? (yield* this.#planOne(expr))
    this.#planned.set(expr, planned)
    return planned
  }

  *#all(exprs: readonly Expr[]): Turns<PlannedStep[]> {
    const all: PlannedStep[] = []
    for (const expr of exprs) all.push(yield* this.plan(expr))
    return all
  }

  *#steps(exprs: readonly Expr[]): Turns<Step[]> {
    return stepsOf(yield* this.#all(exprs))
  }

  *#planOne(expr: Expr): Turns<PlannedStep> {
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
        throw new PlanFault('the expression is incomplete')
    }
  }

  /** Compiles a name, such as `a` in `a.b[0]`. `first` is its cost. */
  *#chain(expr: Expr, first: number): Turns<PlannedStep> {
    const reference = this.#checked.referenceOf(expr)
    // The checker also stores a type for an expression that constructs an object. It does not mean
    // that the expression is the name of this type.
    if (expr.kind === 'struct') return { step: yield* this.#struct(expr) }
    if (reference?.kind === 'type') {
      const { type } = reference
      // Expressions can construct objects of an object type, but cannot use the name of the type as
      // a value, for example in a comparison.
      if (type.kind === 'struct') throw new PlanFault(`reference to undefined type: ${type.name}`)
      return constant(new TypeValue(nameOfType(type)))
    }
    if (reference?.kind === 'variable') return { step: this.#variable(reference.name, first) }
    if (expr.kind === 'select') return { step: yield* this.#select(expr, first) }
    if (expr.kind === 'call' && expr.name === '_[_]')
      return { step: yield* this.#index(expr, first) }
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

  /**
   * Compiles the operand of a field or index. If it is a field or index itself, as in `a.b.c`, it
   * belongs to the same chain. Otherwise it begins a new chain, which costs as much as a name.
   */
  *#operand(expr: Expr, first: number): Turns<Step> {
    const isChain =
      expr.kind === 'ident' ||
      expr.kind === 'select' ||
      (expr.kind === 'call' && expr.name === '_[_]')
    if (isChain && !(expr.kind === 'select' && expr.isTest))
      return (yield* this.#chain(expr, first)).step
    const { step } = yield* this.plan(expr)
    return (run) => {
      const value = step(run)
      run.spend(first)
      return value
    }
  }

  *#select({ operand, field, isTest }: Select, first: number): Turns<Step> {
    if (isTest) return presenceStep(yield* this.#operand(operand, 0), field)
    return selectStep(yield* this.#operand(operand, first), field)
  }

  *#index(expr: Call, first: number): Turns<Step> {
    const [collection, at] = expr.args
    if (collection === undefined || at === undefined) return () => noSuchOverload
    const operand = yield* this.#operand(collection, first)
    return indexStep(operand, (yield* this.#chain(at, 0)).step)
  }

  *#call(expr: Call): Turns<PlannedStep> {
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
        return { step: notStrictlyFalseStep((yield* this.#steps(expr.args))[0]) }
      case 'cel.@mapInsert':
        return { step: yield* this.#mapInsert(expr) }
      case 'or':
      case 'orValue':
        return { step: yield* this.#or(expr) }
      default:
        return yield* this.#function(expr)
    }
  }

  *#logical(expr: Call, decisive: boolean): Turns<Step> {
    const [left, right] = yield* this.#steps(expr.args)
    if (left === undefined || right === undefined) return () => noSuchOverload
    return logicalStep(left, right, decisive)
  }

  *#conditional(expr: Call): Turns<Step> {
    const [test, then, otherwise] = expr.args
    if (test === undefined || then === undefined || otherwise === undefined)
      return () => noSuchOverload
    const { step: condition } = yield* this.plan(test)
    const { step: yes } = yield* this.#chain(then, 0)
    const { step: no } = yield* this.#chain(otherwise, 0)
    return conditionalStep(condition, yes, no)
  }

  *#optionalSelect(expr: Call): Turns<Step> {
    const [target, key] = expr.args
    if (target === undefined || key === undefined) return () => noSuchOverload
    const operand = yield* this.#operand(target, IDENT_COST)
    return optionalSelectStep(operand, (yield* this.#chain(key, 0)).step, expr.name === '_?._')
  }

  *#or(expr: Call): Turns<Step> {
    const target = expr.target === undefined ? undefined : (yield* this.plan(expr.target)).step
    const [other] = yield* this.#steps(expr.args)
    if (target === undefined || other === undefined) return () => noSuchOverload
    return orStep(target, other, expr.name === 'orValue')
  }

  *#mapInsert(expr: Call): Turns<Step> {
    const [target, ...given] = yield* this.#steps(expr.args)
    return target === undefined ? () => noSuchOverload : mapInsertStep(target, given)
  }

  *#function(expr: Call): Turns<PlannedStep> {
    const reference = this.#checked.referenceOf(expr)
    if (reference?.kind !== 'call') throw new PlanFault(`no such function: ${expr.name}`)
    const parts =
      reference.isMember && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args
    const args = yield* this.#all(parts)
    const overload = reference.overloads.length === 1 ? reference.overloads[0] : undefined
    // `x in []` is false for any `x`, so `x` is not evaluated.
    const [, second] = args
    if (expr.name === '@in' && second?.constant !== undefined && isEmptyList(second.constant))
      return constant(false)
    const pattern = overload?.part.isLong === true ? second?.constant : undefined
    if (typeof pattern === 'string' && isLongPattern(pattern)) {
      const fault = yield* longPatternFault(pattern)
      if (fault !== undefined) throw new PlanFault(fault.message)
    }
    const prepared = overload?.part.prepare?.(args.map(({ constant: value }) => value))
    if (prepared instanceof CelError) throw new PlanFault(prepared.message)
    // Converts a constant at compile time. The result is also a constant.
    if (prepared !== undefined && args.length === 1 && !reference.isMember) {
      const value = prepared(null, null, null, null, new Run({}, 0))
      if (!(value instanceof CelError)) return constant(value)
    }
    const { name, parts: all } = reference.fn
    const run = prepared ?? withNamedFault(name, args.length, overload?.part.run ?? anyOf(all))
    return {
      step: callStep(stepsOf(args), run, {
        cost: costOf(overload, reference.overloads),
        isLong: reference.overloads.some(({ part }) => part.isLong),
      }),
    }
  }

  *#list(expr: ListExpr): Turns<PlannedStep> {
    const elements = yield* this.#all(expr.elements)
    return folded(listStep(stepsOf(elements), expr.optional), elements)
  }

  *#map(expr: MapExpr): Turns<PlannedStep> {
    const parts: PlannedStep[] = []
    const entries: { readonly key: Step; readonly value: Step; readonly isOptional: boolean }[] = []
    for (const { key, value, isOptional } of expr.entries) {
      const [plannedKey, plannedValue] = [yield* this.plan(key), yield* this.plan(value)]
      parts.push(plannedKey, plannedValue)
      entries.push({ key: plannedKey.step, value: plannedValue.step, isOptional })
    }
    return folded(mapStep(entries), parts)
  }

  *#struct({ name, fields }: StructExpr): Turns<Step> {
    return structStep(name, fields, yield* this.#steps(fields.map(({ value }) => value)))
  }

  *#comprehension(expr: Comprehension): Turns<Step> {
    const { step: range } = yield* this.plan(expr.range)
    const { step: initial } = yield* this.plan(expr.initial)
    const outer = this.#locals
    const [accumulator, first, second] = [this.#slots++, this.#slots++, this.#slots++]
    const inner: Locals = { name: expr.accumulator, slot: accumulator, outer }
    this.#locals = { name: expr.variable, slot: first, outer: inner }
    if (expr.variable2 !== undefined)
      this.#locals = { name: expr.variable2, slot: second, outer: this.#locals }
    const { step: condition } = yield* this.plan(expr.condition)
    const { step: next } = yield* this.plan(expr.step)
    this.#locals = inner
    const { step: result } = yield* this.plan(expr.result)
    this.#locals = outer
    const slots = { accumulator, first, second }
    return comprehensionStep({
      range,
      initial,
      condition,
      next,
      result,
      slots,
      isPair: expr.variable2 !== undefined,
    })
  }
}

const stepsOf = (parts: readonly PlannedStep[]): Step[] => parts.map(({ step }) => step)

const constant = (value: Value): PlannedStep => ({ step: () => value, constant: value })

/**
 * Creates a list or map whose elements are constants now, so that evaluations need not create it.
 */
function folded(build: Step, parts: readonly PlannedStep[]): PlannedStep {
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
