/**
 * Derives CEL types from a structural schema, with the maximum sizes of values for cost estimates.
 * If the schema does not limit a size, the limit is the size of a request. The types of fields are
 * created on demand.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { defaultMinor } from '../../api/releases.ts'
import { escapeName, isReserved } from './escape.ts'
import { bool, double, type FieldType, int, string, type StructType, type Type } from './types.ts'

/** Maximum size of a request in kube-apiserver. It bounds the size of all values. */
export const REQUEST_BYTES_MAX = 3 * 1024 * 1024
/** Maximum size of the contents of a value, without its two quotes or brackets. */
const CONTENT_BYTES_MAX = REQUEST_BYTES_MAX - 2
/** Maximum size in bytes of a code point. `maxLength` counts code points. */
const POINT_BYTES_MAX = 4

const DURATION_BYTES_MAX = 32
const DATE_TIME_BYTES_MAX = 32
const DATE_BYTES = 12

export type SchemaTypeOptions = {
  /** Prefix for the names of struct types in messages. */
  readonly name: string
  /**
   * Whether the type has the fields `apiVersion`, `kind` and `metadata`, even if they are not in
   * the schema.
   */
  readonly isRoot?: boolean
  /**
   * The minor version of Kubernetes whose rules for maximum sizes apply. By default, the default
   * version of this server.
   */
  readonly release?: number
}

/** The first minor version in which `maxLength` limits the size of an int-or-string. */
const BOUNDED_INT_OR_STRING_SINCE = 34
/** The first minor version that limits the size of object names in estimates. */
const BOUNDED_NAMES_SINCE = 37
const NAME_BYTES_MAX = 253
/** A generateName is shorter than a name, because the server appends at least one character. */
const NAME_PREFIX_BYTES_MAX = NAME_BYTES_MAX - 1

/**
 * Returns the type of a schema, or undefined if CEL rules cannot use values with this schema. For
 * example, the schema might not specify a type.
 */
export function typeOfSchema(
  schema: Fields,
  { name, isRoot = false, release = defaultMinor }: SchemaTypeOptions,
): Type | undefined {
  const inside = { name, release }
  if (schema['x-kubernetes-int-or-string'] === true) {
    const length = release < BOUNDED_INT_OR_STRING_SINCE ? undefined : limit(schema['maxLength'])
    const sizeMax = length === undefined ? CONTENT_BYTES_MAX : length * POINT_BYTES_MAX
    return { kind: 'dyn', sizeMax, isIntOrString: true }
  }
  if (isRoot || schema['x-kubernetes-embedded-resource'] === true)
    return structOf(schema, inside, objectFields(schema, release))
  const { type } = schema
  if (type === 'array') return listOf(schema, inside)
  if (type === 'object') {
    const isMap = isFields(schema['additionalProperties'])
    return isMap ? mapOf(schema, inside) : structOf(schema, inside)
  }
  if (type === 'string') return textTypeOf(schema)
  return scalars.get(textOf(type))
}

const scalars: ReadonlyMap<string, Type> = new Map([
  ['boolean', bool],
  ['number', double],
  ['integer', int],
])

type Naming = { readonly name: string; readonly release: number }

function listOf(schema: Fields, { name, release }: Naming): Type | undefined {
  const items = fieldsOf(schema['items'])
  const element = typeOfSchema(items, { name: `${name}.@idx`, release })
  if (element === undefined) return undefined
  const sizeMax = limit(schema['maxItems']) ?? Math.floor(CONTENT_BYTES_MAX / (bytesMin(items) + 1))
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return { kind: 'list', element, sizeMax, keys: 'whole' }
  if (listType === 'map')
    return { kind: 'list', element, sizeMax, keys: textsOf(schema['x-kubernetes-list-map-keys']) }
  return { kind: 'list', element, sizeMax }
}

function mapOf(schema: Fields, { name, release }: Naming): Type | undefined {
  const values = fieldsOf(schema['additionalProperties'])
  const value = typeOfSchema(values, { name: `${name}.@elem`, release })
  if (value === undefined) return undefined
  // The smallest entry of a map consists of an empty key in quotes, a colon, the value and a comma.
  const sizeMax =
    limit(schema['maxProperties']) ?? Math.floor(CONTENT_BYTES_MAX / (bytesMin(values) + 6))
  return { kind: 'map', key: string, value, sizeMax }
}

/**
 * Returns a struct type. Fields in `instead` replace fields of the same name in the schema. The
 * types of fields are created on demand: there can be tens of thousands of fields, and expressions
 * use only a few.
 */
function structOf(schema: Fields, { name, release }: Naming, instead: Fields = {}): StructType {
  const properties = fieldsOf(schema['properties'])
  return lazyStruct(name, {
    has: (key) => Object.hasOwn(properties, key),
    keys: () => Object.keys(properties),
    always: new Set(Object.keys(instead)),
    typeOf: (key, inside) =>
      typeOfSchema(fieldsOf((Object.hasOwn(instead, key) ? instead : properties)[key]), {
        name: inside,
        release,
      }),
  })
}

export type LazyFields = {
  readonly has: (key: string) => boolean
  readonly keys: () => Iterable<string>
  /** Fields for which `has` returns true even if they are absent. */
  readonly always?: ReadonlySet<string>
  /**
   * Returns the type of a field, or undefined if expressions cannot use the field. `name` is the
   * name of the type if the type is a struct.
   */
  readonly typeOf: (key: string, name: string) => Type | undefined
}

/** Returns a struct type whose fields are looked up when an expression refers to them. */
export function lazyStruct(
  name: string,
  { has, keys, always = new Set(), typeOf }: LazyFields,
): StructType {
  const known = new Map<string, FieldType | undefined>()
  let escaped: ReadonlyMap<string, string> | undefined
  const keyOf = (wanted: string): string | undefined => {
    const isPlain = always.has(wanted) || (has(wanted) && isItself(wanted))
    return isPlain ? wanted : (escaped ??= escapedKeys(keys())).get(wanted)
  }
  const field = (wanted: string): FieldType | undefined => {
    if (known.has(wanted)) return known.get(wanted)
    const key = keyOf(wanted)
    const type = key === undefined ? undefined : typeOf(key, `${name}.${key}`)
    const made = key === undefined || type === undefined ? undefined : { key, type }
    known.set(wanted, made)
    return made
  }
  return { kind: 'struct', name, field }
}

/**
 * Whether expressions can select a field by its own name, without escaping. After a dot, this
 * includes most reserved words.
 */
const isItself = (key: string): boolean => escapeName(key) === key || isReserved(key)

function escapedKeys(keys: Iterable<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const key of keys) {
    const escaped = escapeName(key)
    if (escaped !== undefined) found.set(escaped, key)
  }
  return found
}

const text: Fields = { type: 'string' }
const objectMeta: Fields = { type: 'object', properties: { name: text, generateName: text } }

/**
 * Returns the fields that every object has. Of the metadata, expressions can use only name and
 * generateName, even if the schema describes more fields.
 */
function objectFields(schema: Fields, release: number): Fields {
  const properties = fieldsOf(schema['properties'])
  const { name = text, generateName = text } = fieldsOf(
    fieldsOf(properties['metadata'])['properties'],
  )
  const isBounded = release >= BOUNDED_NAMES_SINCE && !declaresObject(properties)
  const meta = {
    ...objectMeta,
    properties: isBounded
      ? {
          name: bounded(name, NAME_BYTES_MAX),
          generateName: bounded(generateName, NAME_PREFIX_BYTES_MAX),
        }
      : { name, generateName },
  }
  return { kind: text, apiVersion: text, metadata: meta }
}

/** Whether a schema declares all fields that every object has, with the right types. */
function declaresObject({ kind, apiVersion, metadata }: Fields): boolean {
  const { name, generateName } = fieldsOf(fieldsOf(metadata)['properties'])
  const areTexts = [kind, apiVersion, name, generateName].every(
    (field) => fieldsOf(field)['type'] === 'string',
  )
  return areTexts && fieldsOf(metadata)['type'] === 'object'
}

/** Returns the schema of a string with a maximum length. */
function bounded(own: Json, lengthMax: number): Fields {
  const length = limit(fieldsOf(own)['maxLength'])
  return { ...text, maxLength: Math.min(length ?? lengthMax, lengthMax) }
}

const withObjectMeta = (schema: Fields): Fields => ({
  ...schema,
  type: 'object',
  properties: { ...fieldsOf(schema['properties']), ...objectFields(schema, defaultMinor) },
})

function textTypeOf(schema: Fields): Type {
  const length = limit(schema['maxLength'])
  const { format } = schema
  if (format === 'byte') return { kind: 'bytes', sizeMax: length ?? CONTENT_BYTES_MAX }
  if (format === 'duration') return { kind: 'duration', sizeMax: DURATION_BYTES_MAX }
  if (format === 'date') return { kind: 'timestamp', sizeMax: DATE_BYTES }
  if (format === 'date-time') return { kind: 'timestamp', sizeMax: DATE_TIME_BYTES_MAX }
  if (length !== undefined) return { kind: 'string', sizeMax: length * POINT_BYTES_MAX }
  const choices = schema['enum']
  if (!Array.isArray(choices) || choices.length === 0)
    return { kind: 'string', sizeMax: CONTENT_BYTES_MAX }
  return {
    kind: 'string',
    sizeMax: choices.reduce((most, choice) => Math.max(most, Buffer.byteLength(textOf(choice))), 0),
  }
}

const limit = (value: Json | undefined): number | undefined =>
  value === undefined || value === null ? undefined : Math.max(0, numberOf(value))

/** Returns the minimum size in bytes of a value in JSON. */
export function bytesMin(schema: Fields): number {
  if (schema['x-kubernetes-int-or-string'] === true) return 1
  const { type } = schema
  if (type === 'string') return textBytesMin(schema)
  if (type === 'boolean') return 4
  if (type === 'number' || type === 'integer') return 1
  return type === 'object' && !isFields(schema['additionalProperties']) ? objectBytesMin(schema) : 2
}

function textBytesMin(schema: Fields): number {
  if (schema['format'] === 'duration') return 3
  if (schema['format'] === 'date') return DATE_BYTES
  return schema['format'] === 'date-time' ? 21 : 2
}

/** Whether CEL has a type for the schema of a field. All other fields are left out. */
const isTyped = (schema: Fields): boolean => typeOfSchema(schema, { name: '' }) !== undefined

/**
 * Returns the minimum size in bytes of an object: required fields without a default, including
 * their names and punctuation.
 */
function objectBytesMin(given: Fields): number {
  const schema = given['x-kubernetes-embedded-resource'] === true ? withObjectMeta(given) : given
  const properties = fieldsOf(schema['properties'])
  let bytes = 2
  for (const name of new Set(textsOf(schema['required']))) {
    const property = properties[name]
    if (isFields(property) && property['default'] === undefined && isTyped(property))
      bytes += name.length + bytesMin(property) + 4
  }
  return bytes
}
