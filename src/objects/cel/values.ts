/**
 * Values during an evaluation. An int is a bigint, a double is a number; other JSON scalars are
 * themselves. Errors are values, too: `false && error` is false.
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

/** Upstream's message if no overload accepts the arguments. */
export const noSuchOverload = new CelError('no such overload')

export type Result = Value | CelError

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Since 1970, without leap seconds. */
  readonly nanos: bigint
  /** The offset of the zone that it was written in, which it is printed in. */
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

/** A value of a library, such as an address or a quantity. */
export interface Opaque {
  readonly typeName: string
  isSame(other: Opaque): boolean
}

/** Values that wrap JSON. */
export interface JsonBacked {
  /** Undefined: the JSON alone does not decide. */
  equalsJson?(other: Value, meter: { work(nanos: number): void }): boolean | undefined
}

export interface ListValue extends JsonBacked {
  readonly isList: true
  readonly size: number
  /**
   * Whether it is part of an object, not made by an expression: comparing it with a value of
   * another type is an error.
   */
  readonly isOfObject?: boolean
  at(index: number): Value
  /** For lists of type set and map: items with the same text are the same item. */
  readonly identity: ((item: Value) => string) | undefined
}

/** Values that may be keys of a map. */
export type MapKey = boolean | bigint | string | Uint

export interface MapValue extends JsonBacked {
  readonly isMap: true
  readonly size: number
  /** As in a list. */
  readonly isOfObject?: boolean
  /** Whether a lookup of anything but a string is an error. */
  readonly isTextKeyed?: boolean
  /** Whether its size is known; false: all keys have to be listed for it. */
  readonly isCounted?: boolean
  get(key: Value): Value | undefined
  keys(): Iterable<MapKey>
}

export interface StructValue extends JsonBacked {
  readonly isStruct: true
  readonly typeName: string
  /** Undefined: the field is not set. */
  get(field: string): Result | undefined
  fields(): Iterable<string>
}

/**
 * A struct whose fields are evaluated when an expression reads them, and may take long: the
 * variables of a policy.
 */
export abstract class LazyStruct implements StructValue {
  readonly isStruct = true
  abstract readonly typeName: string
  abstract fields(): Iterable<string>
  /**
   * Undefined: there is no such field. A promise: the evaluation of the expression waits for it. A
   * field that takes long to evaluate is one when the slice is over; what was evaluated is
   * remembered, since the expression reads it again after each pause.
   */
  abstract read(field: string): MaybePromise<Result> | undefined

  /** For callers that cannot wait. */
  get(field: string): Result | undefined {
    const result = this.read(field)
    if (!(result instanceof Promise)) return result
    // A failure of what nobody awaits would end the process.
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
 * A list of values. Lists that are made by appending share their items: each sees only as many as
 * it had when it was made, so that a loop which collects n items takes n steps and not n².
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
   * Whether it is the longest list that shares these items: another item can be appended without a
   * copy.
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

/** Numbers that are equal are the same key, whatever their types. */
function keyText(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'number' && Number.isInteger(key)) return `n${BigInt(key)}`
  return undefined
}

type HashEntry = { readonly key: MapKey; readonly value: Value; readonly at: number }

/** A map of values, which shares its entries with maps made from it, as `ArrayList` does. */
export class HashMap implements MapValue {
  readonly isMap = true
  readonly size: number
  readonly #entries: Map<string, HashEntry>

  constructor(entries: Map<string, HashEntry> = new Map()) {
    this.#entries = entries
    this.size = entries.size
  }

  /** If a key is repeated, the last value counts, at the position of the first. */
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

  /** As in a list. */
  get isLast(): boolean {
    return this.size > 0 && this.#entries.size === this.size
  }

  /** A map with one more entry; undefined if the key exists. */
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

/** The result of `type()`. */
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
  // Structs are maps during the evaluation, whatever their type was during the type check.
  return isMap(value) || isStruct(value) ? 'map' : value.typeName
}

/** The error of a comprehension over a value without items, with the name of its Go type. */
export function notIterable(value: Value): CelError {
  const name = typeNameOf(value)
  const goName = goTypes.get(name) ?? `cel.${name.slice(name.lastIndexOf('.') + 1)}`
  return new CelError(`got '${goName}', expected iterable type`)
}

/** The error of a map literal, or of an insertion into a map. */
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
