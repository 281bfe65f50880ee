/**
 * Parses `openAPIV3Schema`. Equal parts become one shared object. Large schemas contain many of
 * them: most fields have one of a few scalar types, and a PodSpec contains the schema of a
 * container three times.
 */
import { Enumeration } from './enumeration.ts'
import {
  type Fields,
  fieldsOf,
  hasNoKeys,
  isFields,
  isNumber,
  itemsOf,
  type Json,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { atOnce, type Turns } from '../../cel/turns.ts'
import type {
  Checks,
  FieldDefault,
  Holds,
  ListKind,
  Structural,
  ValidationRule,
} from './structural.ts'

type ReadOptions = {
  /** Whether fields without a schema are kept everywhere, even if the schema says otherwise. */
  readonly keepsUnknown?: boolean
  /**
   * Whether the schema is parsed to validate its own defaults. kube-apiserver then interprets some
   * keywords differently.
   */
  readonly isOfDefaults?: boolean
}

/** Parses a schema synchronously. Used only for schemas that have already been accepted. */
export const readStructural = (schema: Json | undefined, options: ReadOptions = {}): Structural =>
  atOnce((slice) => readInTurns(schema, { ...options, slice }))

export const readInTurns = (
  schema: Json | undefined,
  options: ReadOptions & { readonly slice: Slice },
): Turns<Structural> => new Reader(options).read(fieldsOf(schema))

class Reader {
  readonly #keepsUnknown: boolean
  readonly #isOfDefaults: boolean
  readonly #slice: Slice
  /**
   * Schemas that were parsed, by a key. The key contains the keywords of the schema, and a number
   * for each schema inside it.
   */
  readonly #known = new Map<string, Structural>()
  readonly #numbers = new Map<Structural, number>()

  constructor({
    keepsUnknown = false,
    isOfDefaults = false,
    slice,
  }: ReadOptions & { readonly slice: Slice }) {
    this.#slice = slice
    this.#keepsUnknown = keepsUnknown
    this.#isOfDefaults = isOfDefaults
  }

  *read(schema: Fields): Turns<Structural> {
    if (this.#slice.isOver()) yield undefined
    const properties = isFields(schema['properties'])
      ? yield* this.#readMap(schema['properties'])
      : undefined
    const others = schema['additionalProperties']
    const additional = isFields(others)
      ? yield* this.read(others)
      : typeof others === 'boolean'
        ? others
        : undefined
    const items = isFields(schema['items']) ? yield* this.read(schema['items']) : undefined
    const junctors = hasJunctors(schema) ? yield* this.#readJunctors(schema) : noJunctors
    if (this.#slice.isOver()) yield undefined
    const read = readOwn(schema)
    const own = {
      ...read,
      rules: yield* this.#readRules(schema),
      ...(this.#keepsUnknown ? { keepsUnknown: true } : {}),
      ...(this.#isOfDefaults ? asOfDefaults(schema, read) : {}),
    }
    const key = isLong(schema)
      ? `long ${this.#numbers.size}`
      : `${keyOf(own)} ${this.#keyOfParts({ properties, additional, items, junctors })}`
    const found = this.#known.get(key)
    if (found !== undefined) return found
    if (this.#slice.isOver()) yield undefined
    const { checks, ...rest } = own
    const all = { ...checks, ...junctors }
    const hasChecks = Object.keys(all).length > 0
    const holds = holdsOf(own, [...(properties?.values() ?? []), additional, items])
    const defaults = properties === undefined ? noDefaults : defaultsOf(properties)
    const made = {
      ...rest,
      properties,
      defaults,
      additional,
      items,
      holds,
      checks: hasChecks ? all : undefined,
    }
    this.#known.set(key, made)
    this.#numbers.set(made, this.#numbers.size)
    return made
  }

  #keyOfParts({ properties, additional, items, junctors }: SubSchemas): string {
    const lists = Object.entries(junctors).map(([name, part]) => {
      const numbers = [part].flat().map((each) => this.#numbers.get(each))
      return `${name}${numbers.join()}`
    })
    return [
      properties === undefined
        ? ''
        : JSON.stringify([...properties].map(([name, part]) => [name, this.#numbers.get(part)])),
      typeof additional === 'object' ? this.#numbers.get(additional) : additional,
      items === undefined ? '' : this.#numbers.get(items),
      ...lists,
    ].join(' ')
  }

  *#readRules(schema: Fields): Turns<readonly ValidationRule[]> {
    const rules: ValidationRule[] = []
    const given = schema['x-kubernetes-validations']
    // `itemsOf` is not used here. It would copy a list of a million rules in one step.
    for (const item of Array.isArray(given) ? given : []) {
      const rule = fieldsOf(item)
      if (rules.length % RULES_PER_LOOK === 0 && this.#slice.isOver()) yield undefined
      rules.push(hasNoKeys(rule) ? emptyRule : readRule(rule))
    }
    return rules
  }

  *#readMap(schemas: Fields): Turns<ReadonlyMap<string, Structural>> {
    const read = new Map<string, Structural>()
    for (const name of Object.keys(schemas))
      read.set(name, yield* this.read(fieldsOf(schemas[name])))
    return read
  }

  *#readJunctors(schema: Fields): Turns<Junctors> {
    const [allOf, anyOf, oneOf] = [
      yield* this.#readList(schema['allOf']),
      yield* this.#readList(schema['anyOf']),
      yield* this.#readList(schema['oneOf']),
    ]
    return {
      ...(allOf.length > 0 ? { allOf } : {}),
      ...(anyOf.length > 0 ? { anyOf } : {}),
      ...(oneOf.length > 0 ? { oneOf } : {}),
      ...(isFields(schema['not']) ? { not: yield* this.read(schema['not']) } : {}),
    }
  }

  *#readList(list: Json | undefined): Turns<readonly Structural[]> {
    const read: Structural[] = []
    for (const part of itemsOf(list)) read.push(yield* this.read(part))
    return read
  }
}

type SubSchemas = Pick<Structural, 'properties' | 'additional' | 'items'> & {
  readonly junctors: Junctors
}

/** The clock is checked once per this number of rules. */
const RULES_PER_LOOK = 256
/**
 * A schema with more rules, enum values or alternatives than this is not compared with others. The
 * key for the comparison would be as long as the schema.
 */
const COMPARED_ITEMS_MAX = 1_000

function isLong({
  enum: values,
  'x-kubernetes-validations': rules,
  allOf,
  anyOf,
  oneOf,
}: Fields): boolean {
  const lists = [values, rules, allOf, anyOf, oneOf]
  if (lists.some((list) => Array.isArray(list) && list.length > COMPARED_ITEMS_MAX)) return true
  // JSON.stringify takes quadratic time in the nesting depth, so schemas with nested enum values
  // are not compared.
  return (
    Array.isArray(values) && values.some((value) => typeof value === 'object' && value !== null)
  )
}

type Junctors = Pick<Checks, 'allOf' | 'anyOf' | 'oneOf' | 'not'>

const noJunctors: Junctors = {}
const hasJunctors = ({ allOf, anyOf, oneOf, not }: Fields): boolean =>
  allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined

/**
 * Returns a key for the keywords of a schema. Absent keywords are left out: most of the tens of
 * thousands of schemas in a large CRD have only a type and one or two keywords.
 */
function keyOf({
  types,
  isNullable,
  keepsUnknown,
  isEmbedded,
  isAtomic,
  list,
  rules,
  checks,
  default: value,
}: OwnKeywords): string {
  const flags =
    (isNullable ? 1 : 0) + (keepsUnknown ? 2 : 0) + (isEmbedded ? 4 : 0) + (isAtomic ? 8 : 0)
  const start = `${types.length === 1 ? JSON.stringify(types[0]) : JSON.stringify(types)}${flags}`
  const isPlain = list === undefined && rules.length === 0 && value === undefined
  if (isPlain && checks?.enum === undefined) return start + JSON.stringify(checks)
  return start + printed([list, rules, value, checks])
}

/**
 * Converts bigints for JSON.stringify, which does not support them. The prefixes keep bigints and
 * strings apart.
 */
function printed(parts: readonly unknown[]): string {
  try {
    return JSON.stringify(parts)
  } catch {
    return `n${JSON.stringify(parts, withBigInts)}`
  }
}

const withBigInts = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `n${value}` : typeof value === 'string' ? `s${value}` : value

/**
 * Returns those keywords that are interpreted differently when a schema validates its own defaults.
 * An int-or-string then permits any value, and types, formats and patterns are not normalized.
 */
function asOfDefaults(
  schema: Fields,
  { types, checks }: Pick<OwnKeywords, 'types' | 'checks'>,
): Partial<OwnKeywords> {
  const type = textOf(schema['type'])
  return {
    types: types === intOrString || type === '' ? [] : [type],
    ...(checks?.format === undefined && checks?.pattern === undefined
      ? {}
      : { checks: { ...checks, isOfDefault: true } }),
  }
}

type OwnKeywords = Omit<Structural, 'properties' | 'defaults' | 'additional' | 'items' | 'holds'>

const noDefaults: readonly FieldDefault[] = []

function defaultsOf(properties: ReadonlyMap<string, Structural>): readonly FieldDefault[] {
  return [...properties].flatMap(([name, property]) =>
    property.default === undefined ? noDefaults : { name, value: property.default, property },
  )
}

function holdsOf(
  { isEmbedded, list }: OwnKeywords,
  parts: readonly (Structural | boolean | undefined)[],
): Holds {
  const below = parts.flatMap((part) => (typeof part === 'object' ? part.holds : []))
  return {
    embedded: isEmbedded || below.some(({ embedded }) => embedded),
    lists: list !== undefined || below.some(({ lists }) => lists),
  }
}

/** Parses the keywords of a schema, without the schemas inside it. */
function readOwn(schema: Fields): Omit<OwnKeywords, 'rules'> {
  const given = schema['default']
  return {
    types:
      schema['x-kubernetes-int-or-string'] === true ? intOrString : typesOf(textOf(schema['type'])),
    isNullable: schema['nullable'] === true,
    keepsUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    isEmbedded: schema['x-kubernetes-embedded-resource'] === true,
    default: given === null ? undefined : given,
    list: readList(schema),
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    checks: readChecks(schema),
  }
}

const known: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object']
const intOrString: readonly string[] = ['integer', 'string']

const typesOf = (name: string): readonly string[] => known.filter((type) => type === name)

export function readList(schema: Fields): ListKind | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return { by: 'value' }
  return type === 'map'
    ? { by: 'keys', keys: textsOf(schema['x-kubernetes-list-map-keys']) }
    : undefined
}

export function readRule(rule: Fields): ValidationRule {
  return {
    rule: textOf(rule['rule']),
    message: textOf(rule['message']),
    messageExpression: textOf(rule['messageExpression']),
    reason: textOf(rule['reason']),
    fieldPath: textOf(rule['fieldPath']),
    optionalOldSelf: rule['optionalOldSelf'] === true,
  }
}

/** The object for all empty rules. It is shared, because a client can send a million of them. */
const emptyRule = readRule({})

const numbers = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

function readChecks(schema: Fields): Checks {
  const checks: { -readonly [name in keyof Checks]: Checks[name] } = {}
  for (const name of numbers) {
    const limit = schema[name]
    if (isNumber(limit)) checks[name] = Number(limit)
  }
  const { format, pattern, enum: values, required, exclusiveMinimum, exclusiveMaximum } = schema
  if (typeof format === 'string' && format !== '') checks.format = format
  if (typeof pattern === 'string' && pattern !== '') checks.pattern = pattern
  if (Array.isArray(values) && values.length > 0) checks.enum = new Enumeration(values)
  if (Array.isArray(required) && required.length > 0) checks.required = textsOf(required)
  if (exclusiveMinimum === true) checks.exclusiveMinimum = true
  if (exclusiveMaximum === true) checks.exclusiveMaximum = true
  if (schema['uniqueItems'] === true) checks.uniqueItems = true
  return checks
}
