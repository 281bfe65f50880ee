/**
 * The JSON paths of printer columns: `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`, `..name`. A path is parsed
 * once into steps; each step maps values to values. The number of values that all paths may visit in one object is limited.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'

type Step = (values: readonly Json[], budget: PathBudget) => readonly Json[]

/** The number of values that may still be visited. */
export type PathBudget = { left: number }

export type JsonPath = (object: Fields, budget?: PathBudget) => readonly Json[]

/** Longer than any real path. */
const STEPS_MAX = 100
/**
 * The number of values that the columns of one object may visit: some twenty milliseconds. A recursive path visits every depth, and a
 * second one visits inner values once for each outer one. Beyond the limit nothing is found.
 */
const LOOKED_MAX = 400_000

export const pathBudget = (): PathBudget => ({ left: LOOKED_MAX })

/** Undefined if the path is invalid. */
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
    steps.reduce<readonly Json[]>((values, step) => step(affordable(values, budget), budget), [object])
}

function affordable(values: readonly Json[], budget: PathBudget): readonly Json[] {
  const all = values.length <= budget.left ? values : values.slice(0, budget.left)
  budget.left -= all.length
  return all
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
  // Upstream splits the quoted name at its dots, and finds nothing.
  if (quoted !== null) return make(quoted, quotedField(quoted[1] ?? quoted[2] ?? ''))
  const slice = match(slicePattern)
  if (slice !== null && slice[0] !== '[]') return make(slice, items(slice))
  const filter = match(filterPattern)
  if (filter !== null) return make(filter, select(filter))
  return path.slice(at) === '.' ? { length: 1, step: undefined } : undefined
}

const make = (found: RegExpExecArray, step: Step | undefined): Token => ({ length: found[0].length, step })

const unescape = (name: string): string => name.replace(/\\(.)/g, '$1')

const quotedField = (name: string): Step => (name.includes('.') ? () => [] : field(name))

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isFields(value) && Object.hasOwn(value, name) ? [value[name] ?? null] : []))

const childrenOf = (value: Json): readonly Json[] =>
  Array.isArray(value) ? value : isFields(value) ? Object.values(value).map((child) => child ?? null) : []

/** A list may occur many times: once below each of the values that contain it. */
function childrenOfAll(values: readonly Json[], budget: PathBudget): readonly Json[] {
  const all: Json[] = []
  for (const value of values) {
    for (const child of childrenOf(value)) {
      if (all.length >= budget.left) return all
      all.push(child)
    }
  }
  return all
}

/** Outer values come before inner ones. */
function recurse(name: string): Step {
  const find = field(name)
  return (values, budget) => {
    const found: Json[] = []
    for (let level = values; level.length > 0; level = affordable(childrenOfAll(level, budget), budget)) {
      for (const value of find(level, budget)) found.push(value)
    }
    return found
  }
}

function items([, first = '', colon, last = '', stride = '1']: RegExpExecArray): Step {
  const step = Math.max(Number(stride), 1)
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return []
      const list: readonly Json[] = value
      if (colon === undefined) {
        const item = list.at(Number(first))
        return item === undefined ? [] : [item]
      }
      const part = list.slice(first === '' ? 0 : Number(first), last === '' ? undefined : Number(last))
      return part.filter((_, index) => index % step === 0)
    })
}

function select([, path = '', operator, literal = '']: RegExpExecArray): Step {
  const steps = path
    .split('.')
    .slice(1)
    .map((name) => field(unescape(name)))
  const wanted: Json = /^["']/.test(literal) ? literal.slice(1, -1) : literal === '' ? '' : JSON.parse(literal)
  const isSelected = (item: Json): boolean => {
    const [value] = steps.reduce<readonly Json[]>((values, step) => step(values, unlimited), [item])
    if (value === undefined) return false
    return operator === undefined || compare(value, operator, wanted)
  }
  return (values, budget) => affordable(childrenOfAll(values, budget), budget).filter(isSelected)
}

/** For steps that map one value to one. */
const unlimited: PathBudget = { left: Number.POSITIVE_INFINITY }

function compare(one: Json, operator: string, other: Json): boolean {
  if (operator === '==') return one === other
  if (operator === '!=') return one !== other
  if (typeof one !== typeof other || typeof one === 'object' || one === null || other === null) return false
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
