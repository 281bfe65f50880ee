/**
 * Estimates the maximum cost of an expression, for which the size of each value must be known. The
 * declared types limit the size of variables, and of the fields, items and map values in them. The
 * size of a literal is known. For a call, the function estimates the size of its result.
 */
import type { Call, Comprehension, Expr, Select } from './ast.ts'
import type { CheckedExpression } from './checker.ts'
import { countPoints, IDENT_COST, LIST_COST, MAP_COST, STRUCT_COST } from './cost.ts'
import type { CallEstimate, Operand, Overload, Range } from './functions.ts'
import { fixed, nothing, plus, times, UNBOUNDED, union, unknownSize } from './ranges.ts'
import type { Slice } from './run.ts'
import type { Turns } from './turns.ts'
import type { Type } from './types.ts'

/**
 * Estimates the cost of an expression. For the size of a path such as `self.a[0]`, kube-apiserver
 * ignores the variable and looks up the rest of the path in `root`. Therefore `root` is used as the
 * type of all variables.
 */
export const estimateCost = (checked: CheckedExpression, root: Type, slice: Slice): Turns<Range> =>
  new Estimator(checked, root, slice).cost(checked.expr)

/** Known properties of a subexpression, in addition to its type. */
type SubexpressionFacts = {
  /**
   * The declared type of a path such as `self.a[0]`, with bounds for its size. Null if the path is
   * not declared.
   */
  readonly place?: Type | null | undefined
  readonly size?: Range | undefined
  /** Sizes of the keys, and of the values or items. */
  readonly inside?: Inside | undefined
}

type Inside = { readonly key: Range; readonly value: Range }

type Local = {
  readonly name: string
  readonly known: SubexpressionFacts
  readonly outer: Local | undefined
}

class Estimator {
  readonly #checked: CheckedExpression
  readonly #root: Type
  readonly #slice: Slice
  readonly #known = new Map<Expr, SubexpressionFacts>()
  readonly #costs = new Map<Expr, Range>()
  #locals: Local | undefined

  constructor(checked: CheckedExpression, root: Type, slice: Slice) {
    this.#checked = checked
    this.#slice = slice
    this.#root = root
  }

  /** Returns the cost of an expression. A subexpression that a macro repeats is estimated once. */
  *cost(expr: Expr): Turns<Range> {
    if (this.#slice.isOver()) yield undefined
    const cost = this.#costs.get(expr) ?? (yield* this.#costOf(expr))
    this.#costs.set(expr, cost)
    return cost
  }

  *#costOf(expr: Expr): Turns<Range> {
    switch (expr.kind) {
      case 'literal':
        this.#learn(expr, { size: fixed(literalSize(expr.value)) })
        return nothing
      case 'ident':
        return this.#ident(expr, expr.name)
      case 'select':
        return yield* this.#select(expr)
      case 'call':
        return yield* this.#call(expr)
      case 'list': {
        const sum = yield* this.#sum(expr.elements)
        const value = this.#unionOf(expr.elements)
        this.#learn(expr, { size: fixed(expr.elements.length), inside: { key: fixed(1), value } })
        return plus(sum, fixed(LIST_COST))
      }
      case 'map': {
        const sum = yield* this.#sum(expr.entries.flatMap(({ key, value }) => [key, value]))
        const key = this.#unionOf(expr.entries.map((entry) => entry.key))
        const value = this.#unionOf(expr.entries.map((entry) => entry.value))
        this.#learn(expr, { size: fixed(expr.entries.length), inside: { key, value } })
        return plus(sum, fixed(MAP_COST))
      }
      case 'struct':
        return plus(yield* this.#sum(expr.fields.map(({ value }) => value)), fixed(STRUCT_COST))
      case 'comprehension':
        return yield* this.#comprehension(expr)
      case 'missing':
        return nothing
    }
  }

  #learn(expr: Expr, known: SubexpressionFacts): void {
    this.#known.set(expr, known)
  }

  *#sum(exprs: readonly Expr[]): Turns<Range> {
    let sum = nothing
    for (const expr of exprs) sum = plus(sum, yield* this.cost(expr))
    return sum
  }

  #unionOf(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return nothing
    return exprs.map((expr) => this.#size(expr)).reduce(union)
  }

  #ident(expr: Expr, name: string): Range {
    for (let local = this.#locals; local !== undefined; local = local.outer) {
      if (local.name !== name) continue
      this.#learn(expr, local.known)
      return fixed(IDENT_COST)
    }
    this.#learn(expr, { place: this.#root })
    return fixed(IDENT_COST)
  }

  *#select(expr: Select): Turns<Range> {
    const reference = this.#checked.referenceOf(expr)
    if (reference !== undefined) return this.#ident(expr, '')
    const sum = yield* this.cost(expr.operand)
    if (expr.isTest) return sum
    this.#learn(expr, { place: this.#step(expr.operand, (place) => fieldOf(place, expr.field)) })
    const { kind } = this.#checked.typeOf(expr.operand)
    return kind === 'map' || kind === 'struct' || kind === 'parameter'
      ? plus(sum, fixed(IDENT_COST))
      : sum
  }

  /**
   * Returns the type at the end of a path after `step` is added to it. If the expression is not a
   * path, for example because it is a literal, `root` is returned, as for a variable.
   */
  #step(from: Expr, step: (place: Type) => Type | undefined): Type | null {
    const place = this.#known.get(from)?.place
    if (place === undefined) return this.#root
    return place === null ? null : (step(place) ?? null)
  }

  /**
   * Returns the size of a value. As in kube-apiserver, this is the computed size if known, or else
   * the declared bound. A scalar has size one.
   */
  #size(expr: Expr): Range {
    const known = this.#known.get(expr)
    if (known?.size !== undefined) return known.size
    if (known?.place !== undefined && known.place !== null) return boundOf(known.place)
    return isScalar(this.#checked.typeOf(expr)) ? fixed(1) : unknownSize
  }

  #operand(expr: Expr): Operand {
    const type = this.#checked.typeOf(expr)
    const place = this.#known.get(expr)?.place
    // As in kube-apiserver, `place` may be `root`, although this is not the type of the operand. If
    // `root` is a map, the bound of its values is then used.
    const inside = place === undefined || place === null ? undefined : insideOf(place)
    const elementSize = (): Range => (inside === undefined ? unknownSize : boundOf(inside))
    return { expr, type, size: this.#size(expr), elementSize }
  }

  *#call(expr: Call): Turns<Range> {
    const reference = this.#checked.referenceOf(expr)
    if (expr.name === '_?._') return plus(yield* this.#sum(expr.args), fixed(1))
    if (reference?.kind !== 'call') return nothing
    if (expr.name === 'dyn') return yield* this.#dyn(expr)
    const parts =
      reference.isMember && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args
    const costs: Range[] = []
    for (const part of parts) costs.push(yield* this.cost(part))
    const special = this.#special(expr, costs)
    if (special !== undefined) return special
    const operands = parts.map((part) => this.#operand(part))
    const estimates = reference.overloads.map((overload) => estimateOverload(overload, operands))
    this.#learnResult(expr, estimates, reference.overloads)
    const own = estimates.map(({ cost }) => cost).reduce(union, { min: UNBOUNDED, max: 0n })
    return costs.reduce(plus, own)
  }

  /**
   * Estimates a call of dyn(). It hides the type of its argument from the checker, but the size of
   * the argument is still known.
   */
  *#dyn(expr: Call): Turns<Range> {
    const [arg] = expr.args
    if (arg === undefined) return nothing
    const cost = plus(yield* this.cost(arg), fixed(1))
    this.#learn(expr, { size: this.#size(arg), inside: this.#known.get(arg)?.inside })
    return cost
  }

  #special(expr: Call, costs: readonly Range[]): Range | undefined {
    const [first = nothing, second = nothing, third = nothing] = costs
    if (expr.name === '_&&_' || expr.name === '_||_')
      return { min: first.min, max: plus(first, second).max }
    if (expr.name !== '_?_:_') return undefined
    const [, then, otherwise] = expr.args
    if (then !== undefined && otherwise !== undefined) {
      this.#learn(expr, {
        size: union(this.#size(then), this.#size(otherwise)),
        inside: this.#insideOfBoth(then, otherwise),
      })
    }
    return plus(first, union(second, third))
  }

  /**
   * Returns the sizes of the keys and items of a value that is one of two operands, as in `a ? b :
   * c`. They are known only if they are known for both operands.
   */
  #insideOfBoth(one: Expr | undefined, other: Expr | undefined): Inside | undefined {
    const first = one && this.#known.get(one)?.inside
    const second = other && this.#known.get(other)?.inside
    if (first === undefined || second === undefined) return undefined
    return { key: union(first.key, second.key), value: union(first.value, second.value) }
  }

  #learnResult(
    expr: Call,
    estimates: readonly CallEstimate[],
    overloads: readonly Overload[],
  ): void {
    const sizes = estimates.flatMap(({ size }) => (size === undefined ? [] : [size]))
    const size = sizes.length === 0 ? undefined : sizes.reduce(union)
    const [first, second] = expr.args
    const isIndex = overloads.some(({ id }) => id === 'index_list' || id === 'index_map')
    if (isIndex && first !== undefined) {
      this.#learn(expr, {
        size: this.#known.get(first)?.inside?.value,
        place: this.#step(first, insideOf),
      })
    } else
      this.#learn(expr, {
        size,
        inside: expr.name === '_+_' ? this.#insideOfBoth(first, second) : undefined,
      })
  }

  *#comprehension(expr: Comprehension): Turns<Range> {
    const before = plus(yield* this.cost(expr.range), yield* this.cost(expr.initial))
    const outer = this.#locals
    const inner: Local = { name: expr.accumulator, known: this.#accumulated(expr), outer }
    this.#locals = this.#variables(expr, inner)
    const turn = plus(yield* this.cost(expr.condition), yield* this.cost(expr.step))
    this.#locals = inner
    const result = yield* this.cost(expr.result)
    this.#locals = outer
    const turns = this.#size(expr.range)
    this.#learn(expr, this.#outcome(expr, turns))
    return plus(plus(before, result), times(turns, turn))
  }

  /**
   * Returns the known properties of the accumulator of a comprehension. Only its initial value is
   * known.
   */
  #accumulated({ initial }: Comprehension): SubexpressionFacts {
    return { ...this.#known.get(initial), size: this.#size(initial) }
  }

  #outcome(expr: Comprehension, turns: Range): SubexpressionFacts {
    const { initial, step, result } = expr
    if (isBinding(expr))
      return { size: this.#size(result), inside: this.#known.get(result)?.inside }
    if (initial.kind === 'literal') return { size: this.#size(initial) }
    if (initial.kind !== 'list' && initial.kind !== 'map') return {}
    return { size: turns, inside: this.#known.get(step)?.inside }
  }

  #variables(expr: Comprehension, inner: Local): Local {
    const key: SubexpressionFacts = { place: this.#step(expr.range, keysOf) }
    const value: SubexpressionFacts = { place: this.#step(expr.range, insideOf) }
    const isOfKeys = expr.variable2 !== undefined || this.#checked.typeOf(expr.range).kind === 'map'
    const first: Local = { name: expr.variable, known: isOfKeys ? key : value, outer: inner }
    if (expr.variable2 === undefined) return first
    return { name: expr.variable2, known: value, outer: first }
  }
}

/** Returns the estimated cost and size of a call. The default cost is one. */
const estimateOverload = (overload: Overload, operands: readonly Operand[]): CallEstimate =>
  overload.part.estimate?.(operands, overload.id) ?? { cost: fixed(1) }

/**
 * Returns the size bound of a type. Scalars and objects have a bound of zero, so comparing them has
 * no cost.
 */
const boundOf = (type: Type): Range => ({
  min: 0n,
  max: BigInt('sizeMax' in type ? (type.sizeMax ?? 0) : 0),
})

const fieldOf = (place: Type, name: string): Type | undefined =>
  place.kind === 'struct' ? place.field(name)?.type : undefined

function insideOf(place: Type): Type | undefined {
  if (place.kind === 'list') return place.element
  return place.kind === 'map' ? place.value : undefined
}

const keysOf = (place: Type): Type | undefined => (place.kind === 'map' ? place.key : undefined)

/**
 * Whether a comprehension has no iterations and only defines a local variable. `optMap` and
 * `cel.bind` are expanded to such comprehensions.
 */
const isBinding = ({ range, condition }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false

const isScalar = ({ kind }: Type): boolean =>
  kind === 'bool' ||
  kind === 'int' ||
  kind === 'uint' ||
  kind === 'double' ||
  kind === 'timestamp' ||
  kind === 'duration'

function literalSize(value: unknown): number {
  if (typeof value === 'string') return countPoints(value)
  return value instanceof Uint8Array ? value.length : 1
}
