/**
 * Represents JSON as CEL values, according to its declared type. A value is converted when an
 * expression reads it. Without a declared type, numbers without a fraction are ints.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { escapeName } from './escape.ts'
import type { Meter } from './functions.ts'
import { isEqualJson } from './json-equal.ts'
import { parseDate, parseTimestamp, parseWordedDuration } from './time.ts'
import { dyn, type ListType, type MapType, type StructType, type Type } from './types.ts'
import {
  CelError,
  isStruct,
  type ListValue,
  type MapValue,
  type Result,
  type StructValue,
  type Value,
} from './values.ts'

/**
 * Returns the error for a value that does not have the type in the schema. This is rare, because
 * the object is validated before the rules are evaluated.
 */
const mismatch = (type: string): CelError => new CelError(`invalid data, expected ${type}`)
const otherType = (type: string, json: Json): CelError => mismatch(`${type}, got ${goTypeOf(json)}`)

/** Returns the name of the Go type of a value. */
function goTypeOf(json: Json): string {
  if (typeof json === 'string') return 'string'
  if (typeof json === 'boolean') return 'bool'
  if (typeof json === 'object')
    return Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}'
  return typeof json === 'bigint' || Number.isSafeInteger(json) ? 'int64' : 'float64'
}

export function valueOf(json: Json | undefined, type: Type): Result {
  if (json === null || json === undefined) return null
  return readers[type.kind]?.(json, type) ?? untyped(json)
}

type Reader = (json: Json, type: Type) => Result | undefined

const text = (name: string, read: (text: string) => Value | undefined): Reader => {
  const wrong = mismatch(name)
  return (json) => (typeof json === 'string' ? (read(json) ?? wrong) : otherType('string', json))
}

/**
 * Functions that convert JSON, by the kind of the declared type. JSON of all other kinds is
 * converted as if no type was declared.
 */
const readers: { readonly [kind: string]: Reader } = {
  string: text('a string', (json) => json),
  bool: (json) => (typeof json === 'boolean' ? json : otherType('bool', json)),
  int: intOf,
  double: (json) =>
    typeof json === 'number'
      ? json
      : typeof json === 'bigint'
        ? Number(json)
        : otherType('float', json),
  bytes: bytesOf,
  dyn: (json, type) =>
    type.kind === 'dyn' && type.isIntOrString === true ? intOrStringOf(json) : undefined,
  timestamp: text('a timestamp', (json) => parseTimestamp(json) ?? parseDate(json)),
  duration: text('a duration', parseWordedDuration),
  list: (json, type) =>
    type.kind === 'list' && Array.isArray(json)
      ? new JsonList(json, type)
      : mismatch('an array for the provided schema with type=array'),
  map: (json, type) =>
    type.kind === 'map' && isFields(json)
      ? new JsonMapValue(json, type)
      : mismatch('a map for the provided schema with type=object'),
  struct: (json, type) =>
    type.kind === 'struct' && isFields(json)
      ? new JsonStruct(json, type)
      : mismatch('a map for the provided schema with type=object'),
}

/**
 * Decodes bytes from base64url. kube-apiserver does the same, although it validates them as
 * standard base64.
 */
function bytesOf(json: Json): Result {
  if (typeof json !== 'string') return otherType('string', json)
  const wrong = json.search(/[+/]/)
  if (wrong === -1) return Buffer.from(json, 'base64url')
  return new CelError(
    `Invalid byte formatted string ${json}: illegal base64 data at input byte ${wrong}`,
  )
}

function intOf(json: Json): Result {
  if (typeof json === 'bigint') return json
  return typeof json === 'number' && Number.isInteger(json) ? BigInt(json) : otherType('int', json)
}

/**
 * Converts an integer or a string. Returns undefined for a list or map, which is rejected when the
 * object is validated.
 */
function intOrStringOf(json: Json): Result | undefined {
  if (typeof json === 'object') return undefined
  if (typeof json === 'string' || typeof json === 'bigint') return json
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json)
  return mismatch('XIntOrString value to be either a string or integer')
}

const untypedList: ListType = { kind: 'list', element: dyn }
const untypedMap: MapType = { kind: 'map', key: { kind: 'string' }, value: dyn }

function untyped(json: Json): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (Array.isArray(json)) return new JsonList(json, untypedList)
  if (isFields(json)) return new JsonMapValue(json, untypedMap)
  return typeof json === 'object' ? null : json
}

/**
 * Converts an error to null. An item of a list or map that does not match its declared type is
 * null. Anywhere else, such a value causes an error.
 */
const plain = (result: Result): Value => (result instanceof CelError ? null : result)

/**
 * Returns the JSON of which a value was made. Returns undefined if an expression created the value.
 */
export function sourceOf(value: Value): Json | undefined {
  if (value instanceof JsonList || value instanceof JsonMapValue || value instanceof JsonStruct)
    return value.json
  return undefined
}

class JsonList implements ListValue {
  readonly isList = true
  readonly isOfObject = true
  readonly identity: ((item: Value) => string) | undefined
  readonly #json: readonly Json[] | LazyItems
  readonly #type: ListType

  constructor(items: readonly Json[] | LazyItems, type: ListType) {
    this.#json = items
    this.#type = type
    this.identity = type.keys === undefined ? undefined : identityBy(type.keys)
  }

  get json(): readonly Json[] {
    return this.#json instanceof LazyItems ? this.#json.whole : this.#json
  }

  get size(): number {
    return this.json.length
  }

  at(index: number): Value {
    return plain(valueOf(this.json[index], this.#type.element))
  }

  equalsJson(other: Value, meter: Pick<Meter, 'work'>): boolean | undefined {
    if (!(other instanceof JsonList) || other.#type !== this.#type) return undefined
    return isEqualJson(this.json, other.json, this.#type, meter)
  }
}

function identityBy(keys: 'whole' | readonly string[]): (item: Value) => string {
  if (keys === 'whole') return textFor
  return (item) =>
    isStruct(item)
      ? JSON.stringify(keys.map((key) => textFor(plain(item.get(escapeName(key) ?? key) ?? null))))
      : textFor(item)
}

function textFor(value: Value): string {
  const json = sourceOf(value)
  if (json !== undefined) return JSON.stringify(json, withBigInts)
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value, withBigInts)
    : `${typeof value} ${String(value)}`
}

const withBigInts = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value

/**
 * JSON whose fields are created when expressions read them. Expressions usually read only a few
 * fields of a large object.
 */
export abstract class LazyFields {
  #whole: Fields | undefined

  get whole(): Fields {
    return (this.#whole ??= this.make())
  }

  protected abstract make(): Fields
  /**
   * Returns a field without creating the other fields. Returns undefined if the field does not
   * exist.
   */
  abstract read(key: string): Json | LazyFields | LazyItems | undefined
}

/** A list whose items are created when expressions read them. */
export abstract class LazyItems {
  #whole: readonly Json[] | undefined

  get whole(): readonly Json[] {
    return (this.#whole ??= this.make())
  }

  protected abstract make(): readonly Json[]
  abstract readonly size: number
  abstract at(index: number): Json | LazyFields
}

/**
 * Returns a map without declared types. Fields that were read are cached in `fields`, so that all
 * expressions share them.
 */
export const lazyValueOf = (fields: LazyFields): Value => new LazyMapValue(fields)

class JsonMapValue implements MapValue {
  readonly isMap = true
  readonly isOfObject = true
  readonly isTextKeyed = true
  readonly #json: Fields | LazyFields
  readonly #type: MapType
  #keys: readonly string[] | undefined

  constructor(json: Fields | LazyFields, type: MapType) {
    this.#json = json
    this.#type = type
  }

  get json(): Fields {
    return this.#json instanceof LazyFields ? this.#json.whole : this.#json
  }

  get isCounted(): boolean {
    return this.#keys !== undefined
  }

  get size(): number {
    return this.keys().length
  }

  get(key: Value): Value | undefined {
    const { json } = this
    if (typeof key !== 'string' || !Object.hasOwn(json, key)) return undefined
    return plain(valueOf(json[key], this.#type.value))
  }

  keys(): readonly string[] {
    this.#keys ??= Object.keys(this.json)
    return this.#keys
  }

  equalsJson(other: Value, meter: Pick<Meter, 'work'>): boolean | undefined {
    if (!(other instanceof JsonMapValue) || other.#type !== this.#type) return undefined
    return isEqualJson(this.json, other.json, this.#type, meter)
  }
}

class LazyMapValue extends JsonMapValue {
  readonly #fields: LazyFields
  readonly #values = new Map<string, Value>()

  constructor(fields: LazyFields) {
    super(fields, untypedMap)
    this.#fields = fields
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const part = this.#fields.read(key)
    if (part === undefined) return undefined
    const value = lazyOrUntyped(part)
    this.#values.set(key, value)
    return value
  }
}

class LazyListValue extends JsonList {
  readonly #items: LazyItems
  readonly #values: Value[] = []

  constructor(items: LazyItems) {
    super(items, untypedList)
    this.#items = items
  }

  override get size(): number {
    return this.#items.size
  }

  override at(index: number): Value {
    return (this.#values[index] ??= lazyOrUntyped(this.#items.at(index)))
  }
}

function lazyOrUntyped(part: Json | LazyFields | LazyItems): Value {
  if (part instanceof LazyFields) return new LazyMapValue(part)
  if (part instanceof LazyItems) return new LazyListValue(part)
  return part === null ? null : untyped(part)
}

class JsonStruct implements StructValue {
  readonly isStruct = true
  readonly json: Fields
  readonly #type: StructType
  #values: Map<string, Result> | undefined

  constructor(json: Fields, type: StructType) {
    this.json = json
    this.#type = type
  }

  get typeName(): string {
    return this.#type.name
  }

  get(name: string): Result | undefined {
    const field = this.#type.field(name)
    if (field === undefined || !Object.hasOwn(this.json, field.key)) return undefined
    const json = this.json[field.key]
    if (typeof json !== 'object') return json === undefined ? undefined : valueOf(json, field.type)
    if (json === null) return undefined
    // Return the same CEL value for each read, because it caches its keys and other data.
    const known = this.#values?.get(name)
    if (known !== undefined) return known
    const value = valueOf(json, field.type)
    this.#values ??= new Map()
    this.#values.set(name, value)
    return value
  }

  *fields(): Generator<string> {
    for (const key of Object.keys(this.json)) {
      const name = escapeName(key)
      if (name !== undefined) yield name
    }
  }

  equalsJson(other: Value, meter: Pick<Meter, 'work'>): boolean | undefined {
    if (!(other instanceof JsonStruct) || other.#type !== this.#type) return undefined
    return isEqualJson(this.json, other.json, this.#type, meter)
  }
}
