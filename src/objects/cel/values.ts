/**
 * CEL values. An int is a bigint, and a double is a number. Other JSON scalars represent
 * themselves. Errors are also values, because `false && error` is false.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | ListValue
  | MapValue
  | StructValue
  | Opaque

export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** The error if no overload accepts the arguments, with kube-apiserver's message. */
export const noSuchOverload = new CelError('no such overload')

export type Result = Value | CelError

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Nanoseconds since 1970-01-01 in UTC, without leap seconds. */
  readonly nanos: bigint
  /**
   * Offset of the time zone in which the timestamp was written. The timestamp is printed in the
   * same time zone.
   */
  readonly offsetMinutes: number

  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos
    this.offsetMinutes = offsetMinutes
  }
}

export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class Optional {
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const none = new Optional(undefined)

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A value of a library type, such as an IP address or a quantity. */
export interface Opaque {
  readonly typeName: string
  isSame(other: Opaque): boolean
}

/** A value that may have been created from the JSON of an object. */
export interface JsonBacked {
  /**
   * Compares the JSON of both values, without creating CEL values for their parts. Returns
   * undefined if this is not enough to decide.
   */
  equalsJson?(other: Value, meter: { work(nanos: number): void }): boolean | undefined
}

export interface ListValue extends JsonBacked {
  readonly isList: true
  readonly size: number
  /**
   * Whether the list comes from an object and was not created by an expression. Comparing such a
   * list with a value of another type is an error.
   */
  readonly isOfObject?: boolean
  at(index: number): Value
  /**
   * Returns a string that identifies an item in a list of type set or map. Items with the same
   * identity are the same item.
   */
  readonly identity: ((item: Value) => string) | undefined
}

/** Values that can be keys of a map. */
export type MapKey = boolean | bigint | string | Uint

export interface MapValue extends JsonBacked {
  readonly isMap: true
  readonly size: number
  /**
   * Whether the map comes from an object and was not created by an expression. Comparing such a map
   * with a value of another type is an error.
   */
  readonly isOfObject?: boolean
  /** Whether all keys are strings. If so, looking up any other key is an error. */
  readonly isTextKeyed?: boolean
  /** Whether the size is already known. Otherwise, the size is determined by listing the keys. */
  readonly isCounted?: boolean
  get(key: Value): Value | undefined
  keys(): Iterable<MapKey>
}

export interface StructValue extends JsonBacked {
  readonly isStruct: true
  readonly typeName: string
  /** Returns the value of a field, or undefined if it is not set. */
  get(field: string): Result | undefined
  fields(): Iterable<string>
}

/**
 * A struct whose fields are evaluated when an expression reads them, which can take a long time.
 * The variables of a policy are such a struct.
 */
export abstract class LazyStruct implements StructValue {
  readonly isStruct = true
  abstract readonly typeName: string
  abstract fields(): Iterable<string>
  /**
   * Reads a field. Returns undefined if the field does not exist, or a promise for which the
   * evaluation waits.
   *
   * The result is a promise if the time slice is over before the field is evaluated. Values are
   * cached, because the expression reads the field again after each interruption.
   */
  abstract read(field: string): MaybePromise<Result> | undefined

  /** Reads a field without waiting. If the field is not available yet, the result is an error. */
  get(field: string): Result | undefined {
    const result = this.read(field)
    if (!(result instanceof Promise)) return result
    // An unhandled rejection would terminate the process.
    result.catch(() => undefined)
    return new CelError('the evaluation cannot wait for the result')
  }
}

/** An object that an expression constructed. */
export class ConstructedStruct implements StructValue {
  readonly isStruct = true
  readonly typeName: string
  readonly #values: ReadonlyMap<string, Value>

  constructor(typeName: string, values: ReadonlyMap<string, Value>) {
    this.typeName = typeName
    this.#values = values
  }

  get(field: string): Value | undefined {
    return this.#values.get(field)
  }

  fields(): Iterable<string> {
    return this.#values.keys()
  }
}

/**
 * A list of values. Appending creates a new list that shares the memory of its items with the old
 * one. Each list knows its own length. Therefore, a loop that collects n items takes n steps and
 * not n².
 */
export class ArrayList implements ListValue {
  readonly isList = true
  readonly size: number
  readonly identity = undefined
  readonly #items: Value[]

  constructor(items: Value[], size = items.length) {
    this.#items = items
    this.size = size
  }

  at(index: number): Value {
    return this.#items[index] ?? null
  }

  /**
   * Whether no list with the same memory is longer. An item can then be appended without a copy.
   */
  get isLast(): boolean {
    return this.size > 0 && this.#items.length === this.size
  }

  concat(more: ListValue): ArrayList {
    const items = this.isLast ? this.#items : this.#items.slice(0, this.size)
    for (let at = 0, end = more.size; at < end; at++) items.push(more.at(at))
    return new ArrayList(items)
  }
}

/**
 * Returns a text that identifies a key of a map. Numbers of different types have the same text if
 * they are equal.
 */
function keyText(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'number' && Number.isInteger(key)) return `n${BigInt(key)}`
  return undefined
}

type HashEntry = { readonly key: MapKey; readonly value: Value; readonly at: number }

/**
 * A map of values. A map that is created from it by adding an entry shares the memory of its
 * entries, as in `ArrayList`.
 */
export class HashMap implements MapValue {
  readonly isMap = true
  readonly size: number
  readonly #entries: Map<string, HashEntry>

  constructor(entries: Map<string, HashEntry> = new Map()) {
    this.#entries = entries
    this.size = entries.size
  }

  /**
   * Creates a map. If a key is repeated, its last value is used, at the position of its first
   * occurrence.
   */
  static of(given: Iterable<readonly [MapKey, Value]>): HashMap {
    const entries = new Map<string, HashEntry>()
    for (const [key, value] of given) {
      const text = keyText(key) ?? ''
      entries.set(text, { key, value, at: entries.get(text)?.at ?? entries.size })
    }
    return new HashMap(entries)
  }

  get(key: Value): Value | undefined {
    const text = keyText(key)
    const entry = text === undefined ? undefined : this.#entries.get(text)
    return entry !== undefined && entry.at < this.size ? entry.value : undefined
  }

  *keys(): Generator<MapKey> {
    for (const { key, at } of this.#entries.values()) {
      if (at >= this.size) return
      yield key
    }
  }

  /** Whether no map with the same memory is larger. An entry can then be added without a copy. */
  get isLast(): boolean {
    return this.size > 0 && this.#entries.size === this.size
  }

  /** Returns a map with an additional entry, or undefined if the map already contains the key. */
  with(key: MapKey, value: Value): HashMap | undefined {
    if (this.get(key) !== undefined) return undefined
    const entries = this.isLast ? this.#entries : new Map([...this.#entries].slice(0, this.size))
    return new HashMap(entries.set(keyText(key) ?? '', { key, value, at: this.size }))
  }
}

export const isList = (value: Result): value is ListValue =>
  typeof value === 'object' && value !== null && 'isList' in value
export const isMap = (value: Result): value is MapValue =>
  typeof value === 'object' && value !== null && 'isMap' in value
export const isStruct = (value: Result): value is StructValue =>
  typeof value === 'object' && value !== null && 'isStruct' in value
export const isOpaque = (value: Result): value is Opaque =>
  typeof value === 'object' && value !== null && 'isSame' in value
export const isKey = (value: Value): value is MapKey =>
  typeof value === 'string' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  value instanceof Uint

export function* itemsOf(list: ListValue): Generator<Value> {
  for (let at = 0; at < list.size; at++) yield list.at(at)
}

/** Returns the name of the type as `type()` reports it. */
export function typeNameOf(value: Value): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'string') return 'string'
  if (value === null) return 'null_type'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  if (isList(value)) return 'list'
  // An evaluation treats every struct as a map, although the type checker has a type for it.
  return isMap(value) || isStruct(value) ? 'map' : value.typeName
}

/**
 * Returns the error for a comprehension over a value that is not a list or map. Like
 * kube-apiserver's message, it contains the Go type of the value.
 */
export function notIterable(value: Value): CelError {
  const name = typeNameOf(value)
  const goName = goTypes.get(name) ?? `cel.${name.slice(name.lastIndexOf('.') + 1)}`
  return new CelError(`got '${goName}', expected iterable type`)
}

/** Returns the error for an invalid key in a map literal or in an insertion. */
export const unsupportedKey = (key: Value): CelError =>
  new CelError(`unsupported key type: ${typeNameOf(key)}`)

const goTypes: ReadonlyMap<string, string> = new Map([
  ['bool', 'types.Bool'],
  ['int', 'types.Int'],
  ['uint', 'types.Uint'],
  ['double', 'types.Double'],
  ['string', 'types.String'],
  ['bytes', 'types.Bytes'],
  ['null_type', 'types.Null'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['google.protobuf.Duration', 'types.Duration'],
  ['optional_type', '*types.Optional'],
  ['type', '*types.Type'],
])
