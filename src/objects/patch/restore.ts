/**
 * Converts a JSON tree to an object with a known schema, as Go's converter does (FromUnstructured).
 * decode.ts converts text in a similar way, but has different messages and accepts less. Here, a
 * whole number with a decimal point is a valid integer, and an integer that is too large overflows.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, fieldsOf, isFields, isNumber, type Json, listOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import {
  decodeStruct,
  isZeroTime,
  readsItself,
  type Target,
  zeroInMap,
  zeroOf,
} from '../codec/decode.ts'
import { newPathRoom } from '../codec/duplicates.ts'
import { jsonTypeOf, printSorted } from '../codec/json.ts'
import {
  type ScalarResult,
  readBase64,
  readInteger,
  readQuantity,
  readTime,
} from '../codec/scalars.ts'
import type { Scalar, Schema, Struct } from '../schema/schema.ts'
import { eachKey, mapEach, once } from '../../lib/scheduling/parts.ts'
import { goKind } from './go-print.ts'

/** Thrown if a value does not match the schema. The message is that of Go. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError'
}

export type RestoreResult = {
  readonly value: Fields
  /** Errors such as `unknown field "a.b"`, sorted. */
  readonly strictFaults: readonly string[]
}

/**
 * A decoded value, and the JSON tree that was created from it for the merge. Where the merge did
 * not change the tree, the decoded value is used again.
 */
type OriginalValue = { readonly tree: Json | undefined; readonly value: Json | undefined }

/** Converts the tree to an object. Throws a RestoreError if a value does not match the schema. */
export function restoreStruct(tree: Json, struct: Struct, known?: OriginalValue): RestoreResult {
  const restorer = once('restorer', () => new Restorer())
  restorer.rewind()
  const value = restorer.struct(tree, struct, known)
  return { value, strictFaults: restorer.unknown.toSorted() }
}

class Restorer {
  readonly unknown: string[] = []
  readonly #path: string[] = []
  readonly #room = newPathRoom()

  /**
   * Empties the path. In work that is divided into parts, each part goes over the tree from its
   * start.
   */
  rewind(): void {
    this.#path.length = 0
  }

  struct(tree: Json, struct: Struct, known?: OriginalValue): Target {
    const { fields, byName } = struct
    if (!isFields(tree)) throw new RestoreError(`cannot restore struct from: ${kindOf(tree)}`)
    const target: Target = {}
    const [knownTree, knownValue] = [fieldsOf(known?.tree), fieldsOf(known?.value)]
    for (const { name, schema, isPointer } of fields) {
      const given = tree[name]
      if (given === undefined) continue
      const inside = { tree: knownTree[name], value: knownValue[name] }
      const value =
        given === inside.tree
          ? inside.value
          : readsItself(schema)
            ? reread(name, given, struct)
            : this.#inside(name, given, schema, inside)
      const isZero =
        value === '' ||
        value === 0 ||
        value === false ||
        (value !== undefined && isZeroTime(value, schema))
      if (value !== undefined && (isPointer || !isZero)) target[name] = value
    }
    for (const key in tree) {
      if (byName.has(key)) continue
      once('unknown fields of tree', () => this.#recordUnknown(tree, byName))
      break
    }
    return target
  }

  #recordUnknown(tree: Fields, byName: Struct['byName']): void {
    for (const key in tree) {
      if (byName.has(key) || this.#room.isFull) continue
      const path = [...this.#path, `.${key}`].join('').slice(1)
      this.#room.take(path)
      this.unknown.push(`unknown field ${quote(path)}`)
    }
  }

  #inside(name: string, value: Json, schema: Schema, known?: OriginalValue): Json | undefined {
    this.#path.push(`.${name}`)
    const restored = value === null ? undefined : this.#value(value, schema, known)
    this.#path.pop()
    return restored
  }

  #value(value: Json, schema: Schema, known?: OriginalValue): Json | undefined {
    if (schema.type === 'struct') return this.struct(value, schema, known)
    if (schema.type === 'list') return this.#list(value, schema.of, known)
    if (schema.type === 'map') return this.#map(value, schema.of)
    if (schema.type === 'any') return value
    return schema.type === 'raw' ? printSorted(value) : scalar(value, schema)
  }

  #list(value: Json, of: Schema, known?: OriginalValue): Json {
    if (!Array.isArray(value)) throw new RestoreError(`cannot restore slice from ${kindOf(value)}`)
    const [knownTree, knownValue] = [listOf(known?.tree), listOf(known?.value)]
    const restore = (item: Json, index: number): Json => {
      const inside = { tree: knownTree[index], value: knownValue[index] }
      if (item === inside.tree && inside.value !== undefined) return inside.value
      this.#path.push(`[${index}]`)
      const restored = item === null ? undefined : this.#value(item, of, inside)
      this.#path.pop()
      return restored ?? zeroOf(of)
    }
    return mapEach('restore items', value, restore)
  }

  #map(value: Json, of: Schema): Json {
    if (!isFields(value)) throw new RestoreError(`cannot restore map from ${kindOf(value)}`)
    return eachKey(
      'restore map',
      value,
      (): JsonMap => new JsonMap(),
      (target, key) => {
        target[key] = this.#inside(key, value[key] ?? null, of) ?? zeroInMap(of)
        return true
      },
    )
  }
}

/**
 * Converts a field whose Go type has its own UnmarshalJSON. As in Go, the field is printed and
 * decoded from text, and paths in its errors begin at the field.
 */
function reread(name: string, given: Json, struct: Struct): Json | undefined {
  const { value, fault } = decodeStruct(printSorted({ [name]: given }), struct)
  if (fault === undefined) return value[name]
  throw new RestoreError(
    (isFields(given) ? decodeStruct(printSorted(given), struct).fault : undefined) ?? fault,
  )
}

/** Converts a scalar. Throws a RestoreError if the value does not match the type. */
function scalar(value: Json, { type, goName }: Scalar): Json | undefined {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value
      throw new RestoreError(
        kindOf(value) === 'int64'
          ? `cannot convert int64 to ${goName}`
          : 'unrecognized type: string',
      )
    case 'boolean':
      if (typeof value === 'boolean') return value
      throw new RestoreError('unrecognized type: bool')
    case 'int32':
    case 'int64':
      return integer(value, type, goName)
    case 'float64':
      if (isNumber(value)) return Number(value)
      throw new RestoreError('unrecognized type: float64')
    case 'bytes':
      return bytes(value)
    case 'time':
    case 'microTime':
      if (typeof value === 'string') return read(readTime(value, type))
      throw new RestoreError(
        `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type string`,
      )
    case 'quantity':
      return read(readQuantity(typeof value === 'string' ? value : printSorted(value)))
    case 'intOrString':
      return intOrString(value)
  }
}

function read(result: ScalarResult): string {
  if ('fault' in result) throw new RestoreError(result.fault)
  return result.text
}

function integer(value: Json, type: 'int32' | 'int64', goName: string): Json {
  if (!isNumber(value)) throw new RestoreError(`unrecognized type: ${type}`)
  if (typeof value === 'number' && !Number.isInteger(value)) {
    throw new RestoreError(`cannot convert float64 to ${goName}`)
  }
  const exact = BigInt.asIntN(type === 'int32' ? 32 : 64, BigInt(value))
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function bytes(value: Json): string {
  if (typeof value === 'string') {
    const result = readBase64(value)
    if ('fault' in result) throw new RestoreError(`error decoding from json: ${result.fault}`)
    return result.text ?? ''
  }
  if (!Array.isArray(value)) throw new RestoreError(`cannot restore slice from ${kindOf(value)}`)
  return Buffer.from(value.map((byte) => Number(integer(byte, 'int32', 'uint8')))).toString(
    'base64',
  )
}

function intOrString(value: Json): Json {
  if (typeof value === 'string') return value
  const exact = isNumber(value) ? readInteger(`${value}`, 'int32') : undefined
  if (exact !== undefined) return exact
  const shown = isNumber(value) ? `number ${value}` : jsonTypeOf(value)
  throw new RestoreError(`json: cannot unmarshal ${cutText(shown)} into Go value of type int32`)
}

const kindOf = (value: Json): string => (value === null ? 'invalid' : goKind(value))
