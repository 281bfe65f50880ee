/**
 * CEL macros, such as `list.all(x, x > 0)`. Before types are checked, they are replaced by
 * comprehensions or presence tests.
 */
import type { Call, Expr } from './ast.ts'

export type MacroFault = { readonly fault: string; readonly offset: number }
/**
 * Expands the call of a macro. Returns undefined if the call does not have the form that the macro
 * requires. It is then an ordinary function call.
 */
export type Macro = (call: Call) => Expr | MacroFault | undefined
/**
 * Macros, by name and number of arguments, such as `has/1`. For a macro with a receiver, the name
 * begins with a dot, such as `.all/2`.
 */
export type Macros = ReadonlyMap<string, Macro>

export function expandMacro(call: Call, macros: Macros): Expr | MacroFault | undefined {
  return macros.get(`${call.target === undefined ? '' : '.'}${call.name}/${call.args.length}`)?.(
    call,
  )
}

/**
 * Name of the variable that accumulates the result. It is not a valid identifier, so expressions
 * cannot use it.
 */
const ACCUMULATOR = '@result'
const UNUSED = '#unused'

const overwriting = 'iteration variable overwrites accumulator variable'

class Builder {
  readonly #offset: number

  constructor(call: Call) {
    this.#offset = call.offset
  }

  literal(value: boolean | bigint): Expr {
    return { kind: 'literal', offset: this.#offset, value }
  }

  ident(name: string): Expr {
    return { kind: 'ident', offset: this.#offset, name }
  }

  get result(): Expr {
    return this.ident(ACCUMULATOR)
  }

  call(name: string, ...args: readonly Expr[]): Expr {
    return { kind: 'call', offset: this.#offset, name, target: undefined, args }
  }

  member(name: string, target: Expr, ...args: readonly Expr[]): Expr {
    return { kind: 'call', offset: this.#offset, name, target, args }
  }

  list(...elements: readonly Expr[]): Expr {
    return { kind: 'list', offset: this.#offset, elements, optional: new Set() }
  }

  map(): Expr {
    return { kind: 'map', offset: this.#offset, entries: [] }
  }

  fold(parts: Folding): Expr {
    return {
      kind: 'comprehension',
      offset: this.#offset,
      accumulator: ACCUMULATOR,
      result: this.result,
      variable2: undefined,
      condition: this.literal(true),
      ...parts,
    }
  }
}

type Folding = {
  readonly range: Expr
  readonly variable: string
  readonly variable2?: string | undefined
  readonly accumulator?: string
  readonly initial: Expr
  readonly condition?: Expr
  readonly step: Expr
  readonly result?: Expr
}

/**
 * A call of a macro that declares one or two variables, such as `range.all(variable, condition)`.
 */
type Loop = {
  readonly range: Expr
  readonly variable: string
  readonly variable2: string | undefined
  /** The argument from which the name of the first variable was read. */
  readonly named: Expr
  readonly args: readonly Expr[]
  readonly build: Builder
}

const simpleName = 'argument must be a simple name'
const identifier = 'argument is not an identifier'

const loop =
  (variables: 1 | 2, expand: (loop: Loop) => Expr, noName = simpleName): Macro =>
  (call) => {
    const names: string[] = []
    for (const arg of call.args.slice(0, variables)) {
      if (arg.kind !== 'ident') return { offset: arg.offset, fault: noName }
      // Bounded: a macro has at most two variables.
      if (names.includes(arg.name))
        return { offset: arg.offset, fault: `duplicate variable name: ${arg.name}` }
      names.push(arg.name)
    }
    const taken = names.findIndex((name) => name === ACCUMULATOR || name === '__result__')
    if (taken !== -1) return { offset: call.args[taken]?.offset ?? call.offset, fault: overwriting }
    const [variable = '', variable2] = names
    if (call.target === undefined) return undefined
    return expand({
      range: call.target,
      variable,
      variable2,
      named: call.args[0] ?? missing,
      args: call.args.slice(variables),
      build: new Builder(call),
    })
  }

const missing: Expr = { kind: 'missing', offset: 0 }

const all = ({ args: [test = missing], build, ...over }: Loop): Expr =>
  build.fold({
    ...over,
    initial: build.literal(true),
    condition: build.call('@not_strictly_false', build.result),
    step: build.call('_&&_', build.result, test),
  })

const exists = ({ args: [test = missing], build, ...over }: Loop): Expr =>
  build.fold({
    ...over,
    initial: build.literal(false),
    condition: build.call('@not_strictly_false', build.call('!_', build.result)),
    step: build.call('_||_', build.result, test),
  })

const existsOne = ({ args: [test = missing], build, ...over }: Loop): Expr =>
  build.fold({
    ...over,
    initial: build.literal(0n),
    step: build.call(
      '_?_:_',
      test,
      build.call('_+_', build.result, build.literal(1n)),
      build.result,
    ),
    result: build.call('_==_', build.result, build.literal(1n)),
  })

/** Expands `map` and `transformList`. If there are two arguments, the first one is a filter. */
const map = ({ args, build, ...over }: Loop): Expr => {
  const [first = missing, second] = args
  const step = build.call('_+_', build.result, build.list(second ?? first))
  return build.fold({
    ...over,
    initial: build.list(),
    step: second === undefined ? step : build.call('_?_:_', first, step, build.result),
  })
}

const mapOnce = loop(1, map, identifier)

const filter = ({ args: [test = missing], build, named, ...over }: Loop): Expr => {
  const step = build.call('_+_', build.result, build.list(named))
  return build.fold({
    ...over,
    initial: build.list(),
    step: build.call('_?_:_', test, step, build.result),
  })
}

const transformMap =
  (insert: (loop: Loop, value: Expr) => Expr) =>
  (over: Loop): Expr => {
    const { args, build, range, variable, variable2 } = over
    const [first = missing, second] = args
    const step = insert(over, second ?? first)
    return build.fold({
      range,
      variable,
      variable2,
      initial: build.map(),
      step: second === undefined ? step : build.call('_?_:_', first, step, build.result),
    })
  }

const insertValue = ({ build, variable }: Loop, value: Expr): Expr =>
  build.call('cel.@mapInsert', build.result, build.ident(variable), value)
const insertEntry = ({ build }: Loop, entry: Expr): Expr =>
  build.call('cel.@mapInsert', build.result, entry)

const has: Macro = ({ args: [arg = missing], offset }) => {
  if (arg.kind !== 'select' || arg.isTest)
    return { offset: arg.offset, fault: 'invalid argument to has() macro' }
  return { ...arg, offset, isTest: true }
}

/**
 * Binds a value to a local variable, by a comprehension over an empty list. The variable is the
 * accumulator, and the value is its initial value.
 */
const local = (build: Builder, name: string, value: Expr, result: Expr): Expr =>
  build.fold({
    range: build.list(),
    variable: UNUSED,
    accumulator: name,
    initial: value,
    condition: build.literal(false),
    step: build.ident(name),
    result,
  })

const optMap =
  (name: string, wrap: (build: Builder, value: Expr) => Expr): Macro =>
  (call) => {
    const [variable = missing, body = missing] = call.args
    if (variable.kind !== 'ident')
      return {
        offset: variable.offset,
        fault: `${name}() variable name must be a simple identifier`,
      }
    if (call.target === undefined) return undefined
    const build = new Builder(call)
    const value = build.member('value', call.target)
    const present = wrap(build, local(build, variable.name, value, body))
    return build.call(
      '_?_:_',
      build.member('hasValue', call.target),
      present,
      build.call('optional.none'),
    )
  }

const bind: Macro = (call) => {
  const [name = missing, value = missing, result = missing] = call.args
  if (call.target?.kind !== 'ident' || call.target.name !== 'cel') return undefined
  if (name.kind !== 'ident')
    return { offset: name.offset, fault: 'cel.bind() variable names must be simple identifiers' }
  return local(new Builder(call), name.name, value, result)
}

export const standardMacros: Macros = new Map([
  ['has/1', has],
  ['.all/2', loop(1, all)],
  ['.exists/2', loop(1, exists)],
  ['.exists_one/2', loop(1, existsOne)],
  ['.map/2', mapOnce],
  ['.map/3', loop(1, map, identifier)],
  ['.filter/2', loop(1, filter, identifier)],
])

export const twoVariableMacros: Macros = new Map([
  ['.all/3', loop(2, all)],
  ['.exists/3', loop(2, exists)],
  ['.existsOne/3', loop(2, existsOne)],
  ['.exists_one/3', loop(2, existsOne)],
  ['.transformList/3', loop(2, map)],
  ['.transformList/4', loop(2, map)],
  ['.transformMap/3', loop(2, transformMap(insertValue))],
  ['.transformMap/4', loop(2, transformMap(insertValue))],
  ['.transformMapEntry/3', loop(2, transformMap(insertEntry))],
  ['.transformMapEntry/4', loop(2, transformMap(insertEntry))],
])

export const optionalMacros: Macros = new Map([
  ['.optMap/2', optMap('optMap', (build, value) => build.call('optional.of', value))],
  ['.optFlatMap/2', optMap('optFlatMap', (_, value) => value)],
])

/** Name of the accumulator that holds the list when `sortBy` is expanded. */
const SORTED = '@__sortBy_input__'

const sortable: readonly Expr['kind'][] = ['list', 'select', 'ident', 'comprehension', 'call']
const notSortable =
  'sortBy can only be applied to a list, identifier, comprehension, call or select expression'

/** Expands `sortBy` to a call whose arguments are the list and the sort keys of its items. */
const sortBy: Macro = (call) => {
  const { target } = call
  if (target === undefined) return undefined
  if (!sortable.includes(target.kind)) return { offset: target.offset, fault: notSortable }
  const build = new Builder(call)
  const keys = mapOnce({ ...call, target: build.ident(SORTED) })
  if (keys === undefined || 'fault' in keys) return keys
  return local(
    build,
    SORTED,
    target,
    build.member('@sortByAssociatedKeys', build.ident(SORTED), keys),
  )
}

export const sortingMacros: Macros = new Map([['.sortBy/2', sortBy]])

export const bindingMacros: Macros = new Map([['.bind/3', bind]])
