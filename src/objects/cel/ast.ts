/**
 * The syntax tree of an expression. Macros are already expanded, most of them to comprehensions.
 */
import type { Value } from './values.ts'

export type Expr =
  | { readonly kind: 'literal'; readonly offset: number; readonly value: Value }
  | { readonly kind: 'ident'; readonly offset: number; readonly name: string }
  | Select
  | Call
  | ListExpr
  | MapExpr
  | StructExpr
  | Comprehension
  /** Stands for an expression that could not be parsed. Its syntax error was already reported. */
  | { readonly kind: 'missing'; readonly offset: number }

export type Select = {
  readonly kind: 'select'
  readonly offset: number
  readonly operand: Expr
  readonly field: string
  /** Whether the selection is a presence test: `has(operand.field)`. */
  readonly isTest: boolean
}

export type Call = {
  readonly kind: 'call'
  readonly offset: number
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export type ListExpr = {
  readonly kind: 'list'
  readonly offset: number
  readonly elements: readonly Expr[]
  /**
   * Indexes of the elements that are optional values. If such a value is empty, the element is
   * omitted.
   */
  readonly optional: ReadonlySet<number>
}

export type Entry = {
  readonly key: Expr
  readonly value: Expr
  readonly isOptional: boolean
  readonly offset: number
}

export type MapExpr = {
  readonly kind: 'map'
  readonly offset: number
  readonly entries: readonly Entry[]
}

export type FieldInitializer = {
  readonly name: string
  readonly value: Expr
  readonly isOptional: boolean
  readonly offset: number
}

export type StructExpr = {
  readonly kind: 'struct'
  readonly offset: number
  readonly name: string
  readonly fields: readonly FieldInitializer[]
}

export type Comprehension = {
  readonly kind: 'comprehension'
  readonly offset: number
  readonly range: Expr
  /**
   * Name of the first variable. Without a second variable, it is the item of a list or the key of a
   * map. With a second variable, it is the index of an item or the key.
   */
  readonly variable: string
  readonly variable2: string | undefined
  readonly accumulator: string
  readonly initial: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** Returns `a.b.c` as a qualified name, or undefined for any other expression. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest) return undefined
  const before = qualifiedName(expr.operand)
  return before === undefined ? undefined : `${before}.${expr.field}`
}

/** Returns the direct subexpressions. */
export function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result]
    case 'literal':
    case 'ident':
    case 'missing':
      return []
  }
}

/**
 * Whether an expression reads a field. If `variable` is given, only fields of this variable count.
 * For the field `b`, the forms `a.b`, `a.?b` and `has(a.b)` count; `a["b"]` does not.
 */
export function readsField(expr: Expr, field: string, variable?: string): boolean {
  const selected = selectedBy(expr)
  if (selected?.field === field) {
    const { operand } = selected
    if (variable === undefined || (operand.kind === 'ident' && operand.name === variable))
      return true
  }
  return partsOf(expr).some((part) => readsField(part, field, variable))
}

function selectedBy(expr: Expr): { readonly operand: Expr; readonly field: string } | undefined {
  if (expr.kind === 'select') return expr
  if (expr.kind !== 'call' || expr.name !== '_?._') return undefined
  const [operand, field] = expr.args
  if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string')
    return undefined
  return { operand, field: field.value }
}
