/**
 * Validates values by their schema, one keyword at a time. Error messages are those of
 * kube-apiserver's validator. During an update, errors in unchanged values are tolerated
 * (ratcheting, KEP-4008).
 *
 * Sometimes each item must be validated against each alternative of a schema. Therefore this code
 * yields to other work between objects, lists and alternatives. Most objects are small and valid:
 * `quick-check.ts` recognizes them first, without yielding.
 */
import {
  FAULTS_CHARACTERS_MAX,
  FAULTS_MAX,
  type FieldFault,
  required,
} from '../../../api/field-fault.ts'
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { checkFieldCount, checkItemCount, checkType, checkWhole } from './check-value.ts'
import { correlatedItems, isUnchanged } from './correlate.ts'
import { junctorFault, pathOf, valueFault } from './faults.ts'
import { Patterns } from './patterns.ts'
import { type Fault, ValidationContext } from './validation-context.ts'
import { isMetaField } from './prune.ts'
import { isQuicklyGood } from './quick-check.ts'
import { type Checks, hasJunctors, type Structural } from './structural.ts'
import { Trail } from './trail.ts'
import { LOOK_VALUES } from './value.ts'

export type ValidateOptions = {
  /** Prefix of the path in each error. It is not part of the messages. */
  readonly prefix?: string
  /** The old value, or undefined if the value is new. */
  readonly old?: Json | undefined
  readonly slice: Slice
}

export function* validateValues(
  value: Json,
  schema: Structural,
  { prefix = '', old, slice }: ValidateOptions,
): Turns<FieldFault[]> {
  const patterns = new Patterns()
  if (isQuicklyGood(value, schema, patterns, slice) && !(yield* patterns.answer(slice))) return []
  for (;;) {
    const faults: Fault[] = []
    yield* visit(
      value,
      schema,
      new ValidationContext(new Trail(), { prefix, faults, patterns, slice }, old),
    )
    if (!(yield* patterns.answer(slice))) return yield* reportFaults(faults, slice)
  }
}

/**
 * Creates the errors that are reported. An error that several schemas of a value cause is reported
 * once. For example, a schema and an alternative in it can cause the same error.
 */
function* reportFaults(faults: readonly Fault[], slice: Slice): Turns<FieldFault[]> {
  const all: FieldFault[] = []
  const known = new Set<string>()
  let characters = 0
  for (const report of faults) {
    if (characters > FAULTS_CHARACTERS_MAX) break
    if (slice.isOver()) yield undefined
    const fault = report()
    characters += fault.path.length + fault.message.length
    const text = `${fault.path}: ${fault.message}`
    if (known.has(text)) continue
    known.add(text)
    all.push(fault)
  }
  return all
}

/**
 * Number of checks that were successful for a value. As in kube-apiserver, the errors of the
 * alternative with the most successful checks are reported.
 */
type Count = number

/** Validates a value. If the value has not changed, its errors are dropped. */
function* visit(value: Json, schema: Structural, place: ValidationContext): Turns<Count> {
  const start = place.faults.length
  const count = yield* check(value, schema, place)
  const { faults, old, slice } = place
  if (
    faults.length > start &&
    old !== undefined &&
    (yield* isUnchanged(value, old, { schema, slice }))
  )
    faults.length = start
  return count
}

/** Does the same as `visit` for a value for which `isSimple` returns true. */
function visitSimple(value: Json, schema: Structural, place: ValidationContext): Count {
  const start = place.faults.length
  const count = checkType(value, schema, place)
  checkWhole(value, schema, place)
  if (place.faults.length > start && value === place.old) place.faults.length = start
  return count + 1
}

/**
 * Whether a value can be validated without yielding, because it is a scalar and its schema has no
 * alternatives.
 */
const isSimple = (value: Json, { checks }: Structural): boolean =>
  (typeof value !== 'object' || value === null) && (checks === undefined || !hasJunctors(checks))

function* check(value: Json, schema: Structural, place: ValidationContext): Turns<Count> {
  if (place.slice.isOver()) yield undefined
  const { checks } = schema
  let count = checkType(value, schema, place)
  if (value !== null && checks !== undefined && hasJunctors(checks))
    count += yield* checkJunctors(value, checks, place)
  checkWhole(value, schema, place)
  if (Array.isArray(value)) count += yield* checkItems(value, schema, place)
  else if (isFields(value)) count += yield* checkFields(value, schema, place)
  return count + 1
}

/**
 * Validates the items of a list. Stops when the maximum number of errors is reached, because the
 * object is then rejected in any case.
 */
function* checkItems(
  items: readonly Json[],
  schema: Structural,
  place: ValidationContext,
): Turns<Count> {
  const { old, faults, slice } = place
  const { items: itemSchema, checks } = schema
  let count = 0
  if (itemSchema !== undefined) {
    const olds = yield* correlatedItems(items, old, { list: schema.list, slice })
    for (let at = 0; at < items.length && faults.length < FAULTS_MAX; at++) {
      const item = items[at] ?? null
      const below = place.below(at, olds?.[at])
      if (!isSimple(item, itemSchema)) count += yield* visit(item, itemSchema, below)
      else {
        count += visitSimple(item, itemSchema, below)
        if (at % LOOK_VALUES === 0 && slice.isOver()) yield undefined
      }
    }
  }
  if (checks !== undefined) checkItemCount(items, checks, place)
  return count
}

function* checkFields(fields: Fields, schema: Structural, place: ValidationContext): Turns<Count> {
  const { old, faults, slice } = place
  const { properties, additional, checks } = schema
  const names = Object.keys(fields)
  if (checks !== undefined) checkFieldCount(names.length, checks, place)
  let count = 0
  const olds = isFields(old) ? old : undefined
  for (const [at, key] of names.entries()) {
    if (faults.length >= FAULTS_MAX) return count
    if (at % LOOK_VALUES === LOOK_VALUES - 1 && slice.isOver()) yield undefined
    const own = properties?.get(key)
    if (own === undefined && additional === false) {
      faults.push(valueFault(place, key, `is a forbidden property`, `${place.name}.${key}`))
    }
    const schemaOfKey = own ?? additional
    if (typeof schemaOfKey !== 'object') continue
    // kube-apiserver reports errors in apiVersion, kind and metadata even if these fields are
    // unchanged.
    const isRatcheted =
      olds !== undefined && Object.hasOwn(olds, key) && !(place.isRoot && isMetaField(key))
    const step = own === undefined && place.isRoot ? `.${key}` : key
    const value = fields[key] ?? null
    const below = place.below(step, isRatcheted ? olds[key] : undefined)
    count += isSimple(value, schemaOfKey)
      ? visitSimple(value, schemaOfKey, below)
      : yield* visit(value, schemaOfKey, below)
  }
  for (const key of checks?.required ?? []) {
    if (faults.length >= FAULTS_MAX) return count
    if (!Object.hasOwn(fields, key))
      faults.push(() => required(pathOf(place, `${place.name}.${key}`)))
  }
  return count
}

function* checkJunctors(
  value: Json,
  { allOf, anyOf, oneOf, not }: Checks,
  place: ValidationContext,
): Turns<Count> {
  let count = 0
  const tried = function* (schema: Structural): Turns<AlternativeResult> {
    const faults: Fault[] = []
    return { count: yield* check(value, schema, place.withFaults(faults)), faults }
  }
  if (anyOf !== undefined) count += yield* checkAny(anyOf, tried, place)
  if (oneOf !== undefined) count += yield* checkOne(oneOf, tried, place)
  if (allOf !== undefined) count += yield* checkAll(allOf, tried, place)
  if (not !== undefined && (yield* tried(not)).faults.length === 0) {
    place.faults.push(junctorFault(place, 'must not validate the schema (not)'))
  }
  return count
}

type AlternativeResult = { readonly count: Count; readonly faults: readonly Fault[] }
type Try = (schema: Structural) => Turns<AlternativeResult>

function* checkAll(
  schemas: readonly Structural[],
  tried: Try,
  place: ValidationContext,
): Turns<Count> {
  let [count, failed] = [0, 0]
  for (const schema of schemas) {
    const result = yield* tried(schema)
    count += result.count
    if (result.faults.length === 0) continue
    failed++
    place.addFaults(result.faults)
  }
  if (failed > 0) {
    const none = failed === schemas.length ? '. None validated' : ''
    place.faults.push(junctorFault(place, `must validate all the schemas (allOf)${none}`))
  }
  return count
}

function* checkAny(
  schemas: readonly Structural[],
  tried: Try,
  place: ValidationContext,
): Turns<Count> {
  let best: AlternativeResult | undefined
  for (const schema of schemas) {
    const result = yield* tried(schema)
    if (result.faults.length === 0) return result.count
    if (best === undefined || result.count > best.count) best = result
  }
  place.faults.push(junctorFault(place, 'must validate at least one schema (anyOf)'))
  place.addFaults(best?.faults ?? [])
  return best?.count ?? 0
}

function* checkOne(
  schemas: readonly Structural[],
  tried: Try,
  place: ValidationContext,
): Turns<Count> {
  let valid = 0
  let best: AlternativeResult | undefined
  for (const schema of schemas) {
    const result = yield* tried(schema)
    if (result.faults.length === 0) valid++
    else if (valid === 0 && (best === undefined || result.count > best.count)) best = result
  }
  if (valid === 1) return 1
  const found = valid === 0 ? 'none valid' : `${valid} valid alternatives`
  place.faults.push(
    junctorFault(place, `must validate one and only one schema (oneOf). Found ${found}`),
  )
  if (valid === 0) place.addFaults(best?.faults ?? [])
  return best?.count ?? 0
}
