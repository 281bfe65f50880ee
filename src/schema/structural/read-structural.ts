/**
 * Reads `openAPIV3Schema`. Parts that say the same become one: most fields of most schemas are one of a few scalars, and large
 * schemas repeat themselves (a PodSpec has its container three times).
 */
import { Enumeration } from './enumeration.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf, textsOf } from '../../api/object.ts'
import type { Checks, FieldDefault, Holds, ListKind, Structural, ValidationRule } from './structural.ts'

export type ReadOptions = {
  /** Nothing is dropped anywhere, whatever the schema says. */
  readonly keepsUnknown?: boolean
  /** As upstream looks at defaults. */
  readonly isOfDefaults?: boolean
}

export function readStructural(schema: Json | undefined, options: ReadOptions = {}): Structural {
  return new Reader(options).read(fieldsOf(schema))
}

class Reader {
  readonly #keepsUnknown: boolean
  readonly #isOfDefaults: boolean
  /** By what they say, their parts named by number. */
  readonly #known = new Map<string, Structural>()
  readonly #numbers = new Map<Structural, number>()

  constructor({ keepsUnknown = false, isOfDefaults = false }: ReadOptions) {
    this.#keepsUnknown = keepsUnknown
    this.#isOfDefaults = isOfDefaults
  }

  read(schema: Fields): Structural {
    const properties = isFields(schema['properties']) ? this.#readMap(schema['properties']) : undefined
    const additional = this.#readAdditional(schema['additionalProperties'])
    const items = isFields(schema['items']) ? this.read(schema['items']) : undefined
    const junctors = this.#readJunctors(schema)
    const read = readOwn(schema)
    const own = {
      ...read,
      ...(this.#keepsUnknown ? { keepsUnknown: true } : {}),
      ...(this.#isOfDefaults ? asOfDefaults(schema, read) : {}),
    }
    const parts: unknown[] = [
      own,
      properties === undefined ? null : [...properties].map(([name, part]) => [name, this.#numbers.get(part)]),
      typeof additional === 'object' ? this.#numbers.get(additional) : additional,
      items === undefined ? null : this.#numbers.get(items),
      Object.entries(junctors).map(([name, part]) => [name, [part].flat().map((each) => this.#numbers.get(each))]),
    ]
    const key = JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
    const found = this.#known.get(key)
    if (found !== undefined) return found
    const { checks, ...rest } = own
    const all = { ...checks, ...junctors }
    const hasChecks = Object.keys(all).length > 0
    const holds = holdsOf(own, [...(properties?.values() ?? []), additional, items])
    const defaults = properties === undefined ? noDefaults : defaultsOf(properties)
    const made = { ...rest, properties, defaults, additional, items, holds, checks: hasChecks ? all : undefined }
    this.#known.set(key, made)
    this.#numbers.set(made, this.#numbers.size)
    return made
  }

  #readMap(schemas: Fields): ReadonlyMap<string, Structural> {
    return new Map(Object.entries(schemas).map(([name, schema]) => [name, this.read(fieldsOf(schema))]))
  }

  #readAdditional(schema: Json | undefined): Structural | boolean | undefined {
    if (typeof schema === 'boolean') return schema
    return isFields(schema) ? this.read(schema) : undefined
  }

  #readJunctors(schema: Fields): Pick<Checks, 'allOf' | 'anyOf' | 'oneOf' | 'not'> {
    const list = (name: string): readonly Structural[] => itemsOf(schema[name]).map((part) => this.read(part))
    const [allOf, anyOf, oneOf] = [list('allOf'), list('anyOf'), list('oneOf')]
    return {
      ...(allOf.length > 0 ? { allOf } : {}),
      ...(anyOf.length > 0 ? { anyOf } : {}),
      ...(oneOf.length > 0 ? { oneOf } : {}),
      ...(isFields(schema['not']) ? { not: this.read(schema['not']) } : {}),
    }
  }
}

/** What is an integer or a string may be anything; types, formats and patterns are taken as they are. */
function asOfDefaults(schema: Fields, { types, checks }: Own): Partial<Own> {
  const type = textOf(schema['type'])
  return {
    types: types === intOrString || type === '' ? [] : [type],
    ...(checks?.format === undefined && checks?.pattern === undefined
      ? {}
      : { checks: { ...checks, isOfDefault: true } }),
  }
}

type Own = Omit<Structural, 'properties' | 'defaults' | 'additional' | 'items' | 'holds'>

const noDefaults: readonly FieldDefault[] = []

function defaultsOf(properties: ReadonlyMap<string, Structural>): readonly FieldDefault[] {
  return [...properties].flatMap(([name, property]) =>
    property.default === undefined ? noDefaults : { name, value: property.default, property },
  )
}

function holdsOf({ isEmbedded, list }: Own, parts: readonly (Structural | boolean | undefined)[]): Holds {
  const below = parts.flatMap((part) => (typeof part === 'object' ? part.holds : []))
  return {
    embedded: isEmbedded || below.some(({ embedded }) => embedded),
    lists: list !== undefined || below.some(({ lists }) => lists),
  }
}

/** What a schema says without its parts. */
function readOwn(schema: Fields): Own {
  const given = schema['default']
  return {
    types: schema['x-kubernetes-int-or-string'] === true ? intOrString : typesOf(textOf(schema['type'])),
    isNullable: schema['nullable'] === true,
    keepsUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    isEmbedded: schema['x-kubernetes-embedded-resource'] === true,
    default: given === null ? undefined : given,
    list: readList(schema),
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    rules: itemsOf(schema['x-kubernetes-validations']).map(readRule),
    checks: readChecks(schema),
  }
}

const known: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object']
const intOrString: readonly string[] = ['integer', 'string']

const typesOf = (name: string): readonly string[] => known.filter((type) => type === name)

export function readList(schema: Fields): ListKind | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return { by: 'value' }
  return type === 'map' ? { by: 'keys', keys: textsOf(schema['x-kubernetes-list-map-keys']) } : undefined
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
  const limits = numbers.flatMap((name) => {
    const limit = schema[name]
    return typeof limit === 'number' || typeof limit === 'bigint' ? [[name, Number(limit)] as const] : []
  })
  const { format, pattern, enum: values, required, exclusiveMinimum, exclusiveMaximum } = schema
  return {
    ...Object.fromEntries(limits),
    ...(typeof format === 'string' && format !== '' ? { format } : {}),
    ...(typeof pattern === 'string' && pattern !== '' ? { pattern } : {}),
    ...(Array.isArray(values) && values.length > 0 ? { enum: new Enumeration(values) } : {}),
    ...(Array.isArray(required) && required.length > 0 ? { required: textsOf(required) } : {}),
    ...(exclusiveMinimum === true ? { exclusiveMinimum } : {}),
    ...(exclusiveMaximum === true ? { exclusiveMaximum } : {}),
    ...(schema['uniqueItems'] === true ? { uniqueItems: true } : {}),
  }
}
