/**
 * Converts a CEL value to JSON, with the limits and errors of Go's conversion. An expression of a
 * mutating policy has constructed the value.
 */
import type { Json } from '../../api/object.ts'
import { JsonMap } from '../../api/json-map.ts'
import { sourceOf } from '../../objects/cel/json-values.ts'
import { formatDuration, formatTimestamp } from '../../objects/cel/time.ts'
import {
  CelError,
  Duration,
  isList,
  isMap,
  isStruct,
  Optional,
  type Result,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../objects/cel/values.ts'

/** Maximum size of the result of one mutation in characters, as for a request body. */
const CHARACTERS_MAX = 3 * 1024 * 1024
/**
 * Number of characters that each member or item adds to the size of the result, in addition to its
 * key and value: quotes, colon and comma.
 */
const MEMBER_CHARACTERS = 4

/** Thrown if a mutation fails. The failurePolicy decides whether the request is rejected. */
export class MutationFault extends Error {}

/**
 * A value that Go leaves as a CEL value when it converts the object: for example a null, a
 * timestamp, or a list in a list. Such a value is not valid for any field with a known type.
 */
export type ForeignValue = {
  readonly path: readonly (string | number)[]
  readonly value: Value
  readonly json: Json
}

/**
 * The container of a value, which limits the types that Go converts. In a struct (`object`), a
 * value can be a list or map. In a list or map (`literal`), it cannot be another list or map. In a
 * JSON patch (`anything`), it can have any type.
 */
type Holder = 'object' | 'literal' | 'anything'

/**
 * Converts the result of one mutation to JSON. Fails with a MutationFault if the value cannot be
 * converted or is too large.
 */
export class NativeValues {
  /**
   * The CEL values that Go leaves in the converted object, in the order in which they were found.
   */
  readonly foreign: ForeignValue[] = []
  readonly #path: (string | number)[] = []
  #left = CHARACTERS_MAX

  /** Converts an apply configuration. Its integers can exceed the range of JSON numbers. */
  appliedOf(value: Value): Json {
    return this.#convert(value, 'object')
  }

  /** Converts the value of a JSON patch operation. */
  patchOf(value: Value): Json {
    return this.#convert(value, 'anything')
  }

  #convert(value: Value, holder: Holder): Json {
    if (value instanceof Optional) {
      if (value.value === undefined) throw new MutationFault('optional.none() dereference')
      return this.#convert(value.value, holder)
    }
    const source = sourceOf(value)
    if (source !== undefined) return this.#counted(source)
    const json = this.#made(value, holder)
    if (holder !== 'anything' && isForeign(value, holder))
      this.foreign.push({ path: [...this.#path], value, json })
    return json
  }

  #made(value: Value, holder: Holder): Json {
    const inside = holder === 'anything' ? holder : 'literal'
    if (isList(value)) {
      const items: Json[] = []
      for (let at = 0; at < value.size; at++) items.push(this.#inside(at, value.at(at), inside))
      return items
    }
    if (isMap(value)) return this.#fields(value.keys(), (key) => value.get(key), inside)
    if (!isStruct(value)) return this.#scalar(value, holder)
    if (value.typeName === 'JSONPatch')
      throw new MutationFault('cannot convert to native type: *structpb.Value')
    return this.#fields(
      value.fields(),
      (name) => value.get(name),
      holder === 'anything' ? holder : 'object',
    )
  }

  #fields<K extends Value>(
    keys: Iterable<K>,
    get: (key: K) => Result | undefined,
    holder: Holder,
  ): Json {
    const fields = new JsonMap()
    for (const key of keys) {
      if (typeof key !== 'string')
        throw new MutationFault('invalid return type: *dynamic.ObjectVal')
      const value = get(key) ?? null
      if (value instanceof CelError) throw new MutationFault(value.message)
      this.#spend(key.length)
      fields[key] = this.#inside(key, value, holder)
    }
    return fields
  }

  #inside(key: string | number, value: Value, holder: Holder): Json {
    this.#spend(MEMBER_CHARACTERS)
    this.#path.push(key)
    const json = this.#convert(value, holder)
    this.#path.pop()
    return json
  }

  #scalar(value: Value, holder: Holder): Json {
    if (typeof value === 'boolean' || value === null) return value
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint') return integer(value, holder)
    if (value instanceof Uint) return integer(value.value, holder)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (value instanceof Uint8Array) return this.#text(Buffer.from(value).toString('base64'))
    if (value instanceof Timestamp) return formatTimestamp(value)
    if (value instanceof Duration) return formatDuration(value)
    if (value instanceof TypeValue && holder !== 'anything') return value.name
    if (value instanceof TypeValue)
      throw new MutationFault("type conversion not supported for 'type'")
    const name = 'typeName' in value ? value.typeName.replace(/^.*\./, '') : 'value'
    throw new MutationFault(`type conversion error from '${name}' to '*structpb.Value'`)
  }

  /**
   * Increases the size of the result by the length of a value. An expression has copied the value
   * from the request, so it can be large, and can occur many times in the result.
   */
  #counted(json: Json): Json {
    if (typeof json === 'string') return this.#text(json)
    this.#spend(MEMBER_CHARACTERS)
    if (Array.isArray(json)) for (const item of json) this.#counted(item)
    else if (typeof json === 'object' && json !== null) {
      for (const [key, item = null] of Object.entries(json)) {
        this.#text(key)
        this.#counted(item)
      }
    }
    return json
  }

  #text(text: string): string {
    this.#spend(text.length)
    return text
  }

  #spend(characters: number): void {
    this.#left -= characters
    if (this.#left < 0)
      throw new MutationFault(`a mutation may produce at most ${CHARACTERS_MAX} characters of JSON`)
  }
}

function isForeign(value: Value, holder: Holder): boolean {
  if (value === null || value instanceof Uint || value instanceof Uint8Array) return true
  if (value instanceof Timestamp || value instanceof Duration) return true
  return holder === 'literal' && (isList(value) || isMap(value))
}

/**
 * Converts an integer. In a JSON patch, an integer beyond the range of JSON numbers becomes a
 * string.
 */
function integer(value: bigint, holder: Holder): Json {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  return holder === 'anything' ? String(value) : value
}
