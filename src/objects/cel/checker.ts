/**
 * The type checker. It determines the type of each subexpression, and resolves names and function
 * calls.
 */
import {
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  qualifiedName,
  type Select,
  type StructExpr,
} from './ast.ts'
import type { Environment } from './environment.ts'
import type { CelFunction, Overload } from './functions.ts'
import type { Slice } from './run.ts'
import type { Fault } from './source.ts'
import type { Turns } from './turns.ts'
import {
  anyType,
  bool,
  bytes,
  double,
  dyn,
  errorType,
  int,
  isAny,
  isOptional,
  isSame,
  mapParts,
  nameOf,
  nullType,
  optional,
  outputNameOf,
  string,
  type Type,
  typeOf,
  uint,
} from './types.ts'
import type { Value } from './values.ts'
import { Bindings, isAnything, mostGeneral } from './unify.ts'

export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'type'; readonly type: Type }
  | {
      readonly kind: 'call'
      readonly fn: CelFunction
      readonly overloads: readonly Overload[]
      readonly isMember: boolean
    }

export type CheckedExpression = {
  readonly expr: Expr
  readonly type: Type
  readonly typeOf: (expr: Expr) => Type
  readonly referenceOf: (expr: Expr) => Reference | undefined
  /** Names of the variables that the expression uses, without variables that macros declare. */
  readonly variables: ReadonlySet<string>
}

export function* check(
  expr: Expr,
  environment: Environment,
  slice: Slice,
): Turns<CheckedExpression | { readonly faults: readonly Fault[] }> {
  const checker = new Checker(environment, slice)
  yield* checker.check(expr)
  if (checker.faults.length > 0) return { faults: checker.faults }
  const typeAt = (part: Expr): Type => checker.finalType(part)
  return {
    expr,
    type: typeAt(expr),
    typeOf: typeAt,
    referenceOf: (part) => checker.references.get(part),
    variables: checker.variables,
  }
}

type Scope = { readonly name: string; readonly type: Type; readonly outer: Scope | undefined }

class Checker {
  readonly faults: Fault[] = []
  readonly references = new Map<Expr, Reference>()
  readonly variables = new Set<string>()
  readonly #environment: Environment
  readonly #slice: Slice
  readonly #types = new Map<Expr, Type>()
  readonly #bindings = new Bindings()
  #scope: Scope | undefined

  constructor(environment: Environment, slice: Slice) {
    this.#environment = environment
    this.#slice = slice
  }

  finalType(expr: Expr): Type {
    return this.#bindings.resolve(this.#types.get(expr) ?? dyn, true)
  }

  /**
   * Returns the type of an expression. It is computed only once per expression: macros repeat
   * subexpressions, and nested macros multiply the repetitions, so repeated checks would take
   * exponential time.
   */
  *check(expr: Expr): Turns<Type> {
    const known = this.#types.get(expr)
    if (known !== undefined) return known
    if (this.#slice.isOver()) yield undefined
    const type = yield* this.#typeFor(expr)
    this.#types.set(expr, type)
    return type
  }

  #fault(expr: { readonly offset: number }, message: string): Type {
    this.faults.push({ offset: expr.offset, message })
    return errorType
  }

  #undeclared(expr: Expr, name: string): Type {
    return this.#fault(
      expr,
      `undeclared reference to '${name}' (in container '${this.#environment.container}')`,
    )
  }

  /**
   * Reports a type mismatch. The message shows the types as inferred at this point, including the
   * names of free type parameters.
   */
  #mismatch(expr: Expr, wanted: Type, found: Type): Type {
    return this.#fault(expr, `expected type '${nameOf(wanted)}' but found '${nameOf(found)}'`)
  }

  *#typeFor(expr: Expr): Turns<Type> {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident':
        return this.#name(expr, expr.name) ?? this.#undeclared(expr, expr.name)
      case 'select':
        return yield* this.#select(expr)
      case 'call':
        return yield* this.#call(expr)
      case 'list':
        return yield* this.#list(expr)
      case 'map':
        return yield* this.#map(expr)
      case 'struct':
        return yield* this.#struct(expr)
      case 'comprehension':
        return yield* this.#comprehension(expr)
      case 'missing':
        return errorType
    }
  }

  /**
   * Resolves the name of a variable or a type. First adds the prefix that expressions may omit
   * (`container`) and looks up the result.
   */
  #name(expr: Expr, name: string): Type | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) {
      if (scope.name !== plain) continue
      this.references.set(expr, { kind: 'variable', name: plain })
      return scope.type
    }
    for (const candidate of this.#candidates(name)) {
      const variable = this.#environment.variables.get(candidate)
      if (variable !== undefined) {
        this.variables.add(candidate)
        this.references.set(expr, { kind: 'variable', name: candidate })
        return variable
      }
      const type = this.#environment.types.get(candidate) ?? this.#environment.objects?.(candidate)
      if (type !== undefined) {
        this.references.set(expr, { kind: 'type', type })
        return typeOf(type)
      }
    }
    return undefined
  }

  #candidates(name: string): readonly string[] {
    if (name.startsWith('.')) return [name.slice(1)]
    if (this.#environment.container === '') return [name]
    const parts = this.#environment.container.split('.')
    return [...parts.map((_, at) => [...parts.slice(0, parts.length - at), name].join('.')), name]
  }

  #function(name: string): CelFunction | undefined {
    for (const candidate of this.#candidates(name)) {
      const found = this.#environment.functions.get(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  *#select(expr: Select): Turns<Type> {
    const name = expr.isTest ? undefined : qualifiedName(expr)
    if (name !== undefined && !this.#isLocal(name)) {
      const type = this.#name(expr, name)
      if (type !== undefined) return type
    }
    const type = this.#field(expr, yield* this.check(expr.operand), {
      name: expr.field,
      isOptional: false,
    })
    return expr.isTest ? bool : type
  }

  /**
   * Whether the first part of a qualified name is the variable of a comprehension. This variable
   * then takes precedence over declared names that begin with the same part.
   */
  #isLocal(name: string): boolean {
    const first = name.split('.', 1)[0]
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer)
      if (scope.name === first) return true
    return false
  }

  #field(
    expr: Expr,
    given: Type,
    field: { readonly name: string; readonly isOptional: boolean },
  ): Type {
    const whole = this.#bindings.resolve(given)
    const wasOptional = isOptional(whole)
    const operand = wasOptional ? (whole.parameters[0] ?? dyn) : whole
    const type = this.#fieldOf(expr, operand, field)
    return wasOptional || field.isOptional ? optional(type) : type
  }

  #fieldOf(
    expr: Expr,
    operand: Type,
    field: { readonly name: string; readonly isOptional: boolean },
  ): Type {
    if (operand.kind === 'struct') {
      return operand.field(field.name)?.type ?? this.#fault(expr, `undefined field '${field.name}'`)
    }
    if (operand.kind === 'map') return operand.value
    if (operand.kind === 'parameter') {
      this.#bindings.fits(dyn, operand)
      return dyn
    }
    if (!isAnything(operand)) this.#fault(expr, noFields(operand))
    return dyn
  }

  *#call(expr: Call): Turns<Type> {
    if (expr.name === '_?._') return yield* this.#optionalSelect(expr)
    for (const arg of expr.args) yield* this.check(arg)
    if (expr.target === undefined) {
      const fn = this.#function(expr.name)
      return fn === undefined
        ? this.#undeclared(expr, expr.name)
        : this.#resolve(expr, fn, expr.args)
    }
    const prefix = qualifiedName(expr.target)
    const namespaced = prefix === undefined ? undefined : this.#function(`${prefix}.${expr.name}`)
    if (namespaced !== undefined) return this.#resolve(expr, namespaced, expr.args)
    yield* this.check(expr.target)
    const fn = this.#function(expr.name)
    if (fn === undefined) return this.#undeclared(expr, expr.name)
    return this.#resolve(expr, fn, [expr.target, ...expr.args], true)
  }

  *#optionalSelect(expr: Call): Turns<Type> {
    const [operand, field] = expr.args
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string')
      return errorType
    yield* this.check(field)
    return this.#field(expr, yield* this.check(operand), { name: field.value, isOptional: true })
  }

  #resolve(expr: Call, fn: CelFunction, args: readonly Expr[], isMember = false): Type {
    const types = args.map((arg) => this.#types.get(arg) ?? dyn)
    if (fn.name === '_&&_' || fn.name === '_||_') return this.#logical(expr, fn, args)
    const matching: Overload[] = []
    let result: Type | undefined
    for (const overload of fn.overloads) {
      if ((overload.isMember ?? false) !== isMember) continue
      const [wanted, gives] = this.#instantiate(overload)
      if (!this.#bindings.fitsAll(types, wanted)) continue
      matching.push(overload)
      const type = this.#bindings.resolve(gives)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !isSame(result, type)) result = dyn
    }
    if (result === undefined) return this.#noOverload(expr, fn, { types, isMember })
    this.references.set(expr, { kind: 'call', fn, overloads: matching, isMember })
    return result
  }

  #logical(expr: Call, fn: CelFunction, args: readonly Expr[]): Type {
    const wrong = args.filter((arg) => !this.#bindings.fits(this.#types.get(arg) ?? dyn, bool))
    for (const arg of wrong) this.#mismatch(arg, bool, this.#types.get(arg) ?? dyn)
    this.references.set(expr, { kind: 'call', fn, overloads: fn.overloads, isMember: false })
    return wrong.length > 0 ? errorType : bool
  }

  #noOverload(
    expr: Expr,
    fn: CelFunction,
    { types, isMember }: { types: readonly Type[]; isMember: boolean },
  ): Type {
    const names = types.map((type) => nameOf(this.#bindings.resolve(type, true)))
    const shown = isMember ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`
    return this.#fault(expr, `found no matching overload for '${fn.name}' applied to '${shown}'`)
  }

  /**
   * Returns a copy of an overload with new type parameters, because each call binds the type
   * parameters separately.
   */
  #instantiate({ args, result }: Overload): readonly [readonly Type[], Type] {
    const own = new Map<string, Type>()
    const instantiate = (type: Type): Type => {
      if (type.kind !== 'parameter') return mapParts(type, instantiate)
      const known = own.get(type.name) ?? this.#bindings.fresh()
      own.set(type.name, known)
      return known
    }
    return [args.map(instantiate), instantiate(result)]
  }

  *#list(expr: ListExpr): Turns<Type> {
    let element: Type | undefined
    for (const [at, part] of expr.elements.entries()) {
      const type = yield* this.check(part)
      element = this.#join(element, expr.optional.has(at) ? this.#unwrapped(part, type) : type)
    }
    return { kind: 'list', element: element ?? this.#bindings.fresh() }
  }

  *#map(expr: MapExpr): Turns<Type> {
    let key: Type | undefined
    let value: Type | undefined
    for (const entry of expr.entries) {
      key = this.#join(key, yield* this.check(entry.key))
      const type = yield* this.check(entry.value)
      value = this.#join(value, entry.isOptional ? this.#unwrapped(entry.value, type) : type)
    }
    return {
      kind: 'map',
      key: key ?? this.#bindings.fresh(),
      value: value ?? this.#bindings.fresh(),
    }
  }

  /**
   * Checks the construction of an object. Its fields are checked only if the environment declares
   * the type.
   */
  *#struct(expr: StructExpr): Turns<Type> {
    const named = this.#name(expr, expr.name)
    if (named === undefined) return this.#undeclared(expr, expr.name)
    const type = this.#messageType(expr, named)
    for (const field of expr.fields) {
      const given = yield* this.check(field.value)
      const value = field.isOptional ? this.#unwrapped(field.value, given) : given
      const known = type.kind === 'struct' ? type.field(field.name) : undefined
      const wanted = known?.type ?? this.#fault(field, `undefined field '${field.name}'`)
      if (this.#bindings.fits(value, wanted)) continue
      const found = nameOf(this.#bindings.resolve(value, true))
      this.#fault(
        field,
        `expected type of field '${field.name}' is '${nameOf(wanted)}' but provided type is '${found}'`,
      )
    }
    return type
  }

  #messageType(expr: StructExpr, named: Type): Type {
    if (named.kind !== 'type') return this.#fault(expr, `'${outputNameOf(named)}' is not a type`)
    const { of = anyType } = named
    return of.kind === 'struct'
      ? of
      : this.#fault(expr, `'${outputNameOf(of)}' is not a message type`)
  }

  #unwrapped(expr: Expr, type: Type): Type {
    if (isOptional(type)) return type.parameters[0] ?? dyn
    if (type.kind !== 'dyn') this.#mismatch(expr, optional(type), type)
    return type
  }

  #join(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type
    if (this.#bindings.fits(before, type)) return mostGeneral(before, type)
    return dyn
  }

  *#comprehension(expr: Comprehension): Turns<Type> {
    const range = this.#bindings.resolve(yield* this.check(expr.range))
    const initial = yield* this.check(expr.initial)
    const [first, second] = this.#variables(expr, range)
    const outer = this.#scope
    const inner: Scope = { name: expr.accumulator, type: initial, outer }
    this.#scope = { name: expr.variable, type: first, outer: inner }
    if (expr.variable2 !== undefined)
      this.#scope = { name: expr.variable2, type: second, outer: this.#scope }
    this.#want(expr.condition, bool, yield* this.check(expr.condition))
    this.#want(expr.step, initial, yield* this.check(expr.step))
    this.#scope = inner
    const result = yield* this.check(expr.result)
    this.#scope = outer
    return this.#bindings.resolve(result)
  }

  #want(expr: Expr, wanted: Type, found: Type): void {
    if (!this.#bindings.fits(wanted, found)) this.#mismatch(expr, wanted, found)
  }

  #variables(expr: Comprehension, range: Type): readonly [Type, Type] {
    if (range.kind === 'list')
      return expr.variable2 === undefined ? [range.element, range.element] : [int, range.element]
    if (range.kind === 'map') return [range.key, range.value]
    if ((isAnything(range) && !isAny(range)) || range.kind === 'parameter') {
      this.#bindings.fits(dyn, range)
      return [dyn, dyn]
    }
    this.#fault(
      expr.range,
      `expression of type '${nameOf(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    )
    return [errorType, errorType]
  }
}

function literalType(value: Value): Type {
  if (value === null) return nullType
  if (typeof value === 'boolean') return bool
  if (typeof value === 'bigint') return int
  if (typeof value === 'number') return double
  if (typeof value === 'string') return string
  return value instanceof Uint8Array ? bytes : uint
}

/**
 * Returns kube-apiserver's message for access to a field of a type without fields. kube-apiserver
 * declares most Kubernetes types without fields, so its message for them is different.
 */
const noFields = (type: Type): string =>
  type.kind === 'opaque' && type.name.startsWith('kubernetes.')
    ? `unexpected failed resolution of '${type.name}'`
    : `type '${nameOf(type)}' does not support field selection`
