/**
 * Whether values fit their schema, keyword by keyword, with the words of upstream's validator. On an update, what was wrong before
 * and has not changed is let pass (KEP-4008).
 */
import { type FieldFault, required } from '../../api/field-fault.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { checkNumber, isNearlyWhole } from './check-number.ts'
import { checkString } from './check-string.ts'
import { correlatedItems, isUnchanged } from './correlate.ts'
import { enumFault, junctorFault, manyFault, pathOf, typeFault, valueFault } from './faults.ts'
import { isFormat } from './formats.ts'
import { Patterns } from './patterns.ts'
import { type Fault, Place } from './place.ts'
import { isMetaField } from './prune.ts'
import type { Checks, Structural } from './structural.ts'
import { Trail } from './trail.ts'
import { typeOfValue } from './value.ts'

export type ValidateOptions = {
  /** Before the paths of all faults, but not in their texts. */
  readonly prefix?: string
  /** What the value was; undefined: it is new. */
  readonly old?: Json | undefined
  readonly slice: Slice
}

export function* validateValues(
  value: Json,
  schema: Structural,
  { prefix = '', old, slice }: ValidateOptions,
): Turns<FieldFault[]> {
  const patterns = new Patterns()
  for (;;) {
    const faults: Fault[] = []
    visit(value, schema, new Place(new Trail(), { prefix, faults, patterns }, old))
    if (!(yield* patterns.answer(slice))) return told(faults)
  }
}

/** What a client can still make use of. A fault may name thousands of values, and there may be thousands of faults. */
const FAULTS_CHARACTERS_MAX = 4 << 20

function told(faults: readonly Fault[]): FieldFault[] {
  const all: FieldFault[] = []
  let characters = 0
  for (const tell of faults) {
    if (characters > FAULTS_CHARACTERS_MAX) break
    const fault = tell()
    characters += fault.path.length + fault.message.length
    all.push(fault)
  }
  return all
}

/** With how many of its checks a value passed, upstream chooses the alternative whose faults it tells. */
type Count = number

/** The value, unless it is as bad as it was. */
function visit(value: Json, schema: Structural, place: Place): Count {
  const start = place.faults.length
  const count = check(value, schema, place)
  if (place.faults.length === start || place.old === undefined || !isUnchanged(value, place.old, schema)) return count
  place.faults.length = start
  return count
}

function check(value: Json, schema: Structural, place: Place): Count {
  const { checks } = schema
  let count = checkType(value, schema, place)
  if (value !== null && checks !== undefined) count += checkJunctors(value, checks, place)
  if (checks?.enum?.has(value) === false) place.faults.push(enumFault(place, value, checks.enum.values))
  if (typeof value === 'string') {
    if (checks !== undefined) checkString(value, checks, place)
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    if (checks !== undefined) checkNumber(value, checks, place)
  } else if (Array.isArray(value)) count += checkItems(value, schema, place)
  else if (isFields(value)) count += checkFields(value, schema, place)
  return count + 1
}

function checkType(value: Json, { types, isNullable, checks }: Structural, place: Place): Count {
  const format =
    checks?.format !== undefined && (checks.isOfDefault === true || isFormat(checks.format)) ? checks.format : undefined
  if (types.length === 0 && format === undefined) return 1
  if (value === null && (isNullable || types.length === 0 || types.includes('null'))) return 1
  const type = typeOfValue(value)
  for (const wanted of types) if (wanted === type || (wanted === 'number' && type === 'integer')) return 1
  if (typeof value === 'number' && types.includes('integer') && isNearlyWhole(value)) return 1
  if (format !== undefined && value !== null) {
    // A format says what is looked at, so upstream leaves the type of texts and lists alone, and knows all else by Go's types.
    const isText = type === 'string' || type === 'array'
    const found = goFormats.get(type) ?? ''
    if (!isText && found !== format) {
      place.faults.push(typeFault(place, { wanted: format, found, shown: found }))
      return 0
    }
    if (isText && !types.includes('number') && !types.includes('integer')) return 1
  }
  place.faults.push(typeFault(place, { wanted: types.join(','), found: type, shown: type }))
  return 0
}

const goFormats: ReadonlyMap<string, string> = new Map([
  ['integer', 'int64'],
  ['number', 'float64'],
])

function checkItems(items: readonly Json[], schema: Structural, place: Place): Count {
  const { old, faults } = place
  const { items: itemSchema, checks } = schema
  let count = 0
  if (itemSchema !== undefined) {
    const olds = correlatedItems(items, old, schema)
    for (let at = 0; at < items.length; at++) {
      count += visit(items[at] ?? null, itemSchema, place.below(at, olds?.[at]))
    }
  }
  const { minItems, maxItems } = checks ?? {}
  if (minItems !== undefined && items.length < minItems) {
    faults.push(valueFault(place, items.length, `should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && items.length > maxItems) faults.push(manyFault(place, items.length, maxItems))
  if (checks?.uniqueItems === true && new Set(items.map(printJson)).size < items.length)
    faults.push(valueFault(place, '', "shouldn't contain duplicates"))
  return count
}

const printJson = (value: Json): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part))

function checkFields(fields: Fields, schema: Structural, place: Place): Count {
  const { old, faults } = place
  const { properties, additional, checks } = schema
  const { minProperties, maxProperties } = checks ?? {}
  const names = Object.keys(fields)
  if (minProperties !== undefined && names.length < minProperties) {
    faults.push(valueFault(place, names.length, `should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    faults.push(manyFault(place, names.length, maxProperties))
  }
  let count = 0
  const olds = isFields(old) ? old : undefined
  for (const key of names) {
    const own = properties?.get(key)
    if (own === undefined && additional === false) {
      faults.push(valueFault(place, key, `is a forbidden property`, `${place.name}.${key}`))
    }
    const schemaOfKey = own ?? additional
    if (typeof schemaOfKey !== 'object') continue
    // Upstream never looks at what the kind and the metadata of an object were.
    const isRatcheted = olds !== undefined && Object.hasOwn(olds, key) && !(place.isRoot && isMetaField(key))
    const step = own === undefined && place.isRoot ? `.${key}` : key
    count += visit(fields[key] ?? null, schemaOfKey, place.below(step, isRatcheted ? olds[key] : undefined))
  }
  for (const key of checks?.required ?? []) {
    if (!Object.hasOwn(fields, key)) faults.push(() => required(pathOf(place, `${place.name}.${key}`)))
  }
  return count
}

function checkJunctors(value: Json, { allOf, anyOf, oneOf, not }: Checks, place: Place): Count {
  if (allOf === undefined && anyOf === undefined && oneOf === undefined && not === undefined) return 0
  let count = 0
  const tried = (schema: Structural): Tried => {
    const faults: Fault[] = []
    return { count: check(value, schema, place.telling(faults)), faults }
  }
  if (anyOf !== undefined) count += checkAny(anyOf, tried, place)
  if (oneOf !== undefined) count += checkOne(oneOf, tried, place)
  if (allOf !== undefined) {
    const all = allOf.map(tried)
    const failed = all.filter(({ faults }) => faults.length > 0)
    for (const each of all) count += each.count
    for (const { faults } of failed) place.tell(faults)
    if (failed.length > 0) {
      const none = failed.length === all.length ? '. None validated' : ''
      place.faults.push(junctorFault(place, `must validate all the schemas (allOf)${none}`))
    }
  }
  if (not !== undefined && tried(not).faults.length === 0) {
    place.faults.push(junctorFault(place, 'must not validate the schema (not)'))
  }
  return count
}

type Tried = { readonly count: Count; readonly faults: readonly Fault[] }

function checkAny(schemas: readonly Structural[], tried: (schema: Structural) => Tried, place: Place): Count {
  let best: Tried | undefined
  for (const schema of schemas) {
    const result = tried(schema)
    if (result.faults.length === 0) return result.count
    if (best === undefined || result.count > best.count) best = result
  }
  place.faults.push(junctorFault(place, 'must validate at least one schema (anyOf)'))
  place.tell(best?.faults ?? [])
  return best?.count ?? 0
}

function checkOne(schemas: readonly Structural[], tried: (schema: Structural) => Tried, place: Place): Count {
  let valid = 0
  let best: Tried | undefined
  for (const schema of schemas) {
    const result = tried(schema)
    if (result.faults.length === 0) valid++
    else if (valid === 0 && (best === undefined || result.count > best.count)) best = result
  }
  if (valid === 1) return 1
  const found = valid === 0 ? 'none valid' : `${valid} valid alternatives`
  place.faults.push(junctorFault(place, `must validate one and only one schema (oneOf). Found ${found}`))
  if (valid === 0) place.tell(best?.faults ?? [])
  return best?.count ?? 0
}
