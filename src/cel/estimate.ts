/**
 * The worst case of what an expression costs, by the bounds that its declared types have. Sizes are known for what is reached from a
 * variable by fields, items and values, for literals, and for what functions say of their results.
 */
import type { Call, Comprehension, Expr, Select } from './ast.ts'
import type { Checked } from './checker.ts'
import { IDENT_COST, LIST_COST, MAP_COST, STRUCT_COST } from './cost.ts'
import type { CallEstimate, Operand, Overload, Range } from './functions.ts'
import { fixed, nothing, plus, times, UNBOUNDED, union, unknownSize } from './ranges.ts'
import type { Type } from './types.ts'

export const estimateCost = (checked: Checked): Range => new Estimator(checked).cost(checked.expr)

/** What is known of a part besides its type. */
type Known = {
  /** The declared type at the place that the part leads to, whose bounds hold. */
  readonly place?: Type | undefined
  readonly size?: Range | undefined
  /** Of the keys and the values or items inside. */
  readonly inside?: { readonly key: Range; readonly value: Range } | undefined
}

type Local = { readonly name: string; readonly known: Known; readonly outer: Local | undefined }

class Estimator {
  readonly #checked: Checked
  readonly #known = new Map<Expr, Known>()
  readonly #costs = new Map<Expr, Range>()
  #locals: Local | undefined

  constructor(checked: Checked) {
    this.#checked = checked
  }

  /** Parts that a macro uses twice are looked at once. */
  cost(expr: Expr): Range {
    const cost = this.#costs.get(expr) ?? this.#costOf(expr)
    this.#costs.set(expr, cost)
    return cost
  }

  #costOf(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        this.#learn(expr, { size: fixed(literalSize(expr.value)) })
        return nothing
      case 'ident':
        return this.#ident(expr, expr.name)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list': {
        const sum = this.#sum(expr.elements)
        const value = this.#unionOf(expr.elements)
        this.#learn(expr, { size: fixed(expr.elements.length), inside: { key: fixed(1), value } })
        return plus(sum, fixed(LIST_COST))
      }
      case 'map': {
        const sum = this.#sum(expr.entries.flatMap(({ key, value }) => [key, value]))
        const key = this.#unionOf(expr.entries.map((entry) => entry.key))
        const value = this.#unionOf(expr.entries.map((entry) => entry.value))
        this.#learn(expr, { size: fixed(expr.entries.length), inside: { key, value } })
        return plus(sum, fixed(MAP_COST))
      }
      case 'struct':
        return plus(this.#sum(expr.fields.map(({ value }) => value)), fixed(STRUCT_COST))
      case 'comprehension':
        return this.#comprehension(expr)
      case 'missing':
        return nothing
    }
  }

  #learn(expr: Expr, known: Known): void {
    this.#known.set(expr, known)
  }

  #sum(exprs: readonly Expr[]): Range {
    return exprs.reduce((sum, expr) => plus(sum, this.cost(expr)), nothing)
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
    // A type's name is taken for a variable without bounds of its own, as upstream takes it.
    const isType = this.#checked.referenceOf(expr)?.kind === 'type'
    this.#learn(expr, isType ? { size: nothing } : { place: this.#checked.typeOf(expr) })
    return fixed(IDENT_COST)
  }

  #select(expr: Select): Range {
    const reference = this.#checked.referenceOf(expr)
    if (reference !== undefined) return this.#ident(expr, '')
    const sum = this.cost(expr.operand)
    if (expr.isTest) return sum
    const place = this.#known.get(expr.operand)?.place
    this.#learn(expr, { place: place?.kind === 'struct' ? place.field(expr.field)?.type : undefined })
    const { kind } = this.#checked.typeOf(expr.operand)
    return kind === 'map' || kind === 'struct' || kind === 'parameter' ? plus(sum, fixed(IDENT_COST)) : sum
  }

  /** Upstream's order: what was computed, what the declaration bounds, one for a scalar. */
  #size(expr: Expr): Range {
    const known = this.#known.get(expr)
    if (known?.size !== undefined) return known.size
    if (known?.place !== undefined) return boundOf(known.place)
    return isScalar(this.#checked.typeOf(expr)) ? fixed(1) : unknownSize
  }

  #operand(expr: Expr): Operand {
    const type = this.#checked.typeOf(expr)
    const place = this.#known.get(expr)?.place
    const elementSize = (): Range => (place?.kind === 'list' ? boundOf(place.element) : unknownSize)
    return { expr, type, size: this.#size(expr), elementSize }
  }

  #call(expr: Call): Range {
    const reference = this.#checked.referenceOf(expr)
    if (expr.name === '_?._') return plus(this.#sum(expr.args), fixed(1))
    if (reference?.kind !== 'call') return nothing
    const parts = reference.isMember && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args
    const costs = parts.map((part) => this.cost(part))
    const special = this.#special(expr, costs)
    if (special !== undefined) return special
    const operands = parts.map((part) => this.#operand(part))
    const estimates = reference.overloads.map((overload) => estimateOverload(overload, operands))
    this.#learnResult(expr, estimates, reference.overloads)
    const own = estimates.map(({ cost }) => cost).reduce(union, { min: UNBOUNDED, max: 0 })
    return costs.reduce(plus, own)
  }

  #special(expr: Call, costs: readonly Range[]): Range | undefined {
    const [first = nothing, second = nothing, third = nothing] = costs
    if (expr.name === '_&&_' || expr.name === '_||_') return { min: first.min, max: plus(first, second).max }
    if (expr.name !== '_?_:_') return undefined
    const [, then, otherwise] = expr.args
    if (then !== undefined && otherwise !== undefined) {
      const inside = [this.#known.get(then)?.inside, this.#known.get(otherwise)?.inside].find(
        (known) => known !== undefined,
      )
      this.#learn(expr, { size: union(this.#size(then), this.#size(otherwise)), inside })
    }
    return plus(first, union(second, third))
  }

  #learnResult(expr: Call, estimates: readonly CallEstimate[], overloads: readonly Overload[]): void {
    const sizes = estimates.flatMap(({ size }) => (size === undefined ? [] : [size]))
    const size = sizes.length === 0 ? undefined : sizes.reduce(union)
    const isIndex = overloads.some(({ id }) => id === 'index_list' || id === 'index_map')
    const collection = isIndex && expr.args[0] !== undefined ? this.#known.get(expr.args[0]) : undefined
    const place = collection?.place === undefined ? undefined : insideOf(collection.place)
    this.#learn(expr, { size: size ?? (place === undefined ? collection?.inside?.value : undefined), place })
  }

  #comprehension(expr: Comprehension): Range {
    const before = plus(this.cost(expr.range), this.cost(expr.initial))
    const outer = this.#locals
    const inner: Local = { name: expr.accumulator, known: this.#accumulated(expr), outer }
    this.#locals = this.#variables(expr, inner)
    const turn = plus(this.cost(expr.condition), this.cost(expr.step))
    this.#locals = inner
    const result = this.cost(expr.result)
    this.#locals = outer
    const turns = this.#size(expr.range)
    this.#learn(
      expr,
      expr.initial.kind === 'literal' ? { size: fixed(literalSize(expr.initial.value)) } : { size: turns },
    )
    return plus(plus(before, result), times(turns, turn))
  }

  /** What the accumulator starts with is all that is known of it. */
  #accumulated(expr: Comprehension): Known {
    const known = this.#known.get(expr.initial) ?? {}
    return expr.initial.kind === 'literal' ? {} : known
  }

  #variables(expr: Comprehension, inner: Local): Local {
    const known = this.#known.get(expr.range)
    const key: Known = { place: keysOf(known?.place), size: known?.inside?.key }
    const value: Known = { place: insideOf(known?.place), size: known?.inside?.value }
    const isMap = this.#checked.typeOf(expr.range).kind === 'map'
    if (expr.variable2 === undefined) return { name: expr.variable, known: isMap ? key : value, outer: inner }
    const first: Local = { name: expr.variable, known: isMap ? key : { size: fixed(1) }, outer: inner }
    return { name: expr.variable2, known: value, outer: first }
  }
}

/** O(1) is the default. */
const estimateOverload = (overload: Overload, operands: readonly Operand[]): CallEstimate =>
  overload.part.estimate?.(operands, overload.id) ?? { cost: fixed(1) }

/** Scalars and objects have no bound, which counts as none: comparing them is free. */
const boundOf = (type: Type): Range => ({ min: 0, max: 'sizeMax' in type ? (type.sizeMax ?? 0) : 0 })

function insideOf(place: Type | undefined): Type | undefined {
  if (place?.kind === 'list') return place.element
  return place?.kind === 'map' ? place.value : undefined
}

const keysOf = (place: Type | undefined): Type | undefined => (place?.kind === 'map' ? place.key : undefined)

const isScalar = ({ kind }: Type): boolean =>
  kind === 'bool' ||
  kind === 'int' ||
  kind === 'uint' ||
  kind === 'double' ||
  kind === 'timestamp' ||
  kind === 'duration'

function literalSize(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return value instanceof Uint8Array ? value.length : 1
}
