/**
 * JSON paths of printer columns: `.spec.ports[0].name`,
 * `.status.conditions[?(@.type=="Ready")].status`, `..name`. A path is parsed once into steps. The
 * steps are evaluated lazily, because a cell shows only the first value. The total number of values
 * that the paths of one object visit is limited.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'

type Step = (values: Iterable<Json>, budget: PathBudget) => Iterable<Json>

/**
 * Limit on the work for one object, which all of its paths share. `left` is the number of values
 * that can still be visited. `children` caches the values of large maps, because several columns
 * can visit them.
 */
export type PathBudget = { left: number; readonly children: Map<Fields, readonly Json[]> }

/** Returns the values that a path finds in an object. */
export type JsonPath = (object: Fields, budget?: PathBudget) => Iterable<Json>

/** Maximum number of steps in a path. No path in practice has this many. */
const STEPS_MAX = 100
/**
 * Maximum number of values that all columns of one object visit. This takes about ten milliseconds.
 * Real objects have far fewer values. The limit is for recursive paths: a second `..` visits inner
 * values once for each outer value. When the limit is reached, paths find no further values.
 */
const LOOKED_MAX = 50_000

export const pathBudget = (): PathBudget => ({ left: LOOKED_MAX, children: new Map() })

/** Parses a path. Returns undefined if it is invalid. */
export function readJsonPath(path: string): JsonPath | undefined {
  const steps: Step[] = []
  let at = 0
  while (at < path.length) {
    const token = tokenAt(path, at)
    if (token === undefined || steps.length === STEPS_MAX) return undefined
    at += token.length
    if (token.step !== undefined) steps.push(token.step)
  }
  if (steps.length === 0) return () => []
  return (object, budget = pathBudget()) =>
    steps.reduce<Iterable<Json>>(
      (values, step) => step(affordable(values, budget), budget),
      [object],
    )
}

function* affordable(values: Iterable<Json>, budget: PathBudget): Iterable<Json> {
  for (const value of values) {
    if (budget.left <= 0) return
    budget.left--
    yield value
  }
}

type Token = { readonly length: number; readonly step: Step | undefined }

const namePattern = /\.((?:\\.|[^.[\]\\])+)/y
const recursivePattern = /\.\.((?:\\.|[^.[\]\\])+)/y
const quotedPattern = /\[\s*(?:'([^']*)'|"([^"]*)")\s*\]/y
const slicePattern = /\[\s*(?:(-?\d+|-)\s*)?(?:(:)\s*(?:(-?\d+|-)\s*)?(?::\s*(\d+)\s*)?)?\]/y
const filterPattern =
  /\[\?\(\s*@((?:\.[\w\\-]+)*)\s*(?:(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|-?[\d.]+|true|false)\s*)?\)\]/y
const wildcardPattern = /\[\*\]|\.\*/y

function tokenAt(path: string, at: number): Token | undefined {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(path)
  }
  const wildcard = match(wildcardPattern)
  if (wildcard !== null) return make(wildcard, childrenOfAll)
  const recursive = match(recursivePattern)
  if (recursive !== null) return make(recursive, recurse(unescape(recursive[1] ?? '')))
  const name = match(namePattern)
  if (name !== null) return make(name, field(unescape(name[1] ?? '')))
  const quoted = match(quotedPattern)
  // kube-apiserver also splits a quoted name at its dots. Therefore, a path with a quoted name that
  // contains dots finds nothing.
  if (quoted !== null) return make(quoted, quotedField(quoted[1] ?? quoted[2] ?? ''))
  const slice = match(slicePattern)
  if (slice !== null && slice[0] !== '[]') return make(slice, items(slice))
  const filter = match(filterPattern)
  if (filter !== null) return make(filter, select(filter))
  return path.slice(at) === '.' ? { length: 1, step: undefined } : undefined
}

const make = (found: RegExpExecArray, step: Step | undefined): Token => ({
  length: found[0].length,
  step,
})

const unescape = (name: string): string => name.replace(/\\(.)/g, '$1')

const quotedField = (name: string): Step => (name.includes('.') ? () => [] : field(name))

const field = (name: string): Step =>
  function* (values) {
    for (const value of values)
      if (isFields(value) && Object.hasOwn(value, name)) yield value[name] ?? null
  }

/**
 * Minimum number of entries for which the values of a map are cached. Listing them again for each
 * column would be slow.
 */
const KEPT_CHILDREN_MIN = 1000

function childrenOf(value: Json, { children }: PathBudget): readonly Json[] {
  if (Array.isArray(value)) return value
  if (!isFields(value)) return []
  const known = children.get(value)
  if (known !== undefined) return known
  const made = Object.values(value).map((child) => child ?? null)
  if (made.length >= KEPT_CHILDREN_MIN) children.set(value, made)
  return made
}

/**
 * Yields the children of all values. A list can occur several times, once for each value that
 * contains it.
 */
function* childrenOfAll(values: Iterable<Json>, budget: PathBudget): Iterable<Json> {
  for (const value of values) yield* childrenOf(value, budget)
}

/** Returns a step that finds a field at any depth. Outer values come before inner ones. */
function recurse(name: string): Step {
  const find = field(name)
  return function* (values, budget) {
    for (
      let level = [...values];
      level.length > 0;
      level = [...affordable(childrenOfAll(level, budget), budget)]
    ) {
      yield* find(level, budget)
    }
  }
}

function items([, first = '', colon, last = '', stride = '1']: RegExpExecArray): Step {
  const step = Math.max(Number(stride), 1)
  return function* (values) {
    for (const value of values) {
      if (!Array.isArray(value)) continue
      const list: readonly Json[] = value
      if (colon === undefined) {
        const item = list.at(Number(first))
        if (item !== undefined) yield item
        continue
      }
      const part = list.slice(
        first === '' ? 0 : Number(first),
        last === '' ? undefined : Number(last),
      )
      for (let at = 0; at < part.length; at += step) yield part[at] ?? null
    }
  }
}

function select([, path = '', operator, literal = '']: RegExpExecArray): Step {
  const names = path.split('.').slice(1).map(unescape)
  const wanted: Json = /^["']/.test(literal)
    ? literal.slice(1, -1)
    : literal === ''
      ? ''
      : JSON.parse(literal)
  const isSelected = (item: Json): boolean => {
    let value: Json | undefined = item
    for (const name of names)
      value = isFields(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : undefined
    if (value === undefined) return false
    return operator === undefined || compare(value, operator, wanted)
  }
  return function* (values, budget) {
    for (const item of affordable(childrenOfAll(values, budget), budget))
      if (isSelected(item)) yield item
  }
}

function compare(one: Json, operator: string, other: Json): boolean {
  if (operator === '==') return one === other
  if (operator === '!=') return one !== other
  if (typeof one !== typeof other || typeof one === 'object' || one === null || other === null)
    return false
  switch (operator) {
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    default:
      return one >= other
  }
}
