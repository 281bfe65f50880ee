/**
 * Validates faults: fields must be known, of the right type and within their limits. The types do
 * not ensure this, because faults also come from JavaScript and from programs in other languages.
 */
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'
import type { FaultEffect } from './fault-effect.ts'
import type { FaultMatch, Verb } from './fault-match.ts'

/**
 * Validates the part of a fault that selects requests. If a field is invalid, throws a TypeError or
 * a RangeError that names the field.
 */
export function checkMatch(given: unknown): asserts given is FaultMatch {
  checkFields(given, 'match', matchFields)
}

/**
 * Validates the effect of a fault. If a field is invalid, throws a TypeError or a RangeError that
 * names the field. Also rejects an effect that is not possible for one of the selected verbs.
 */
export function checkEffect(given: unknown, { verb }: FaultMatch): asserts given is FaultEffect {
  const kinds = effectKinds.filter((name) => isRecord(given) && given[name] !== undefined)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1)
    throw new TypeError(`effect must be exactly one of: ${effectKinds.join(', ')}`)
  checkFields(given, 'effect', effects[kind])
  const wanted = verb === undefined ? undefined : [verb].flat()
  if (wanted?.some((one) => canHave(kind, one)) === false) {
    throw new RangeError(
      `effect: ${kind} applies to ${verbsOf(kind).join(', ')}, not to ${wanted.join(', ')}`,
    )
  }
}

/** Whether the effect is possible for requests with this verb. */
export const canMeet = (effect: FaultEffect, verb: string): boolean =>
  effectKinds.every((kind) => !(kind in effect) || canHave(kind, verb))

type Check = (value: unknown, name: string) => void

/**
 * Maximum length of names. Names of objects have at most 253 characters, and names of resources are
 * shorter.
 */
const NAME_CHARACTERS_MAX = 1_000
const MESSAGE_CHARACTERS_MAX = 10_000
const STATUS_MIN = 400
const STATUS_MAX = 599
/** The largest integer that JSON and clients represent exactly. */
const COUNT_MAX = Number.MAX_SAFE_INTEGER
/**
 * Maximum delay before a retry: one day. Go clients cannot represent arbitrarily long durations.
 */
const RETRY_SECONDS_MAX = 86_400

const textUpTo =
  (charactersMax: number): Check =>
  (value, name) => {
    if (typeof value !== 'string') throw new TypeError(`${name} is not a string`)
    if (value.length > charactersMax)
      throw new RangeError(`${name} is longer than ${charactersMax} characters`)
  }

const between =
  (min: number, max: number): Check =>
  (value, name) => {
    if (typeof value !== 'number') throw new TypeError(`${name} is not a number`)
    if (!(value >= min && value <= max))
      throw new RangeError(`${name} ${value} is not between ${min} and ${max}`)
  }

const integer =
  (min: number, max: number): Check =>
  (value, name) => {
    between(min, max)(value, name)
    if (!Number.isInteger(value))
      throw new RangeError(`${name} ${String(value)} is not a whole number`)
  }

const count = integer(0, COUNT_MAX)

const oneOf =
  (...wanted: readonly (string | true)[]): Check =>
  (value, name) => {
    if (!wanted.some((one) => one === value))
      throw new TypeError(`${name} must be one of: ${wanted.join(', ')}`)
  }

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
] as const satisfies Verb[]

const verb: Check = (value, name) => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (all.length === 0 || all.length > verbs.length)
    throw new RangeError(`${name} must have 1 to ${verbs.length} verbs`)
  for (const one of all) oneOf(...verbs)(one, name)
}

const name = textUpTo(NAME_CHARACTERS_MAX)

const matchFields: Readonly<Record<keyof FaultMatch, Check>> = {
  verb,
  resource: name,
  namespace: name,
  name,
  after: count,
  times: count,
}

const closing: Check = (value, at) => {
  if (value === true) return
  if (!isRecord(value) || value['afterEvents'] === undefined)
    throw new TypeError(`${at} must be true, or { afterEvents }`)
  checkFields(value, at, { afterEvents: count })
}

type Kind = FaultEffect extends infer Effect
  ? Effect extends { status: number }
    ? 'status'
    : keyof Effect
  : never

const effects: Readonly<Record<Kind, Readonly<Record<string, Check>>>> = {
  status: {
    status: integer(STATUS_MIN, STATUS_MAX),
    message: textUpTo(MESSAGE_CHARACTERS_MAX),
    reason: name,
    retryAfterSeconds: integer(0, RETRY_SECONDS_MAX),
  },
  conflict: { conflict: oneOf(true) },
  delayMs: { delayMs: between(0, TIMER_MS_MAX) },
  dropConnection: { dropConnection: oneOf(true, 'before', 'after') },
  closeWatch: { closeWatch: closing },
  staleRead: { staleRead: oneOf(true) },
}

const effectKinds = [
  'status',
  'conflict',
  'delayMs',
  'dropConnection',
  'closeWatch',
  'staleRead',
] as const

/** For each effect that is not possible for all verbs, the verbs for which it is possible. */
const verbsByKind: ReadonlyMap<Kind, readonly Verb[]> = new Map<Kind, readonly Verb[]>([
  ['conflict', ['update', 'patch', 'delete']],
  ['closeWatch', ['watch']],
  ['staleRead', ['get', 'list']],
])

const verbsOf = (kind: Kind): readonly string[] => verbsByKind.get(kind) ?? verbs
const canHave = (kind: Kind, one: string): boolean =>
  !verbsByKind.has(kind) || verbsOf(kind).includes(one)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks the fields of an object. A field that is undefined is treated as absent. */
function checkFields(given: unknown, what: string, checks: Readonly<Record<string, Check>>): void {
  if (!isRecord(given)) throw new TypeError(`${what} is not an object`)
  const known = new Map(Object.entries(checks))
  for (const [field, value] of Object.entries(given)) {
    const check = known.get(field)
    if (check === undefined) throw new TypeError(`${what}: unknown field ${JSON.stringify(field)}`)
    if (value !== undefined) check(value, `${what}.${field}`)
  }
}
