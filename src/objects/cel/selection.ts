/** Accesses fields of objects, keys of maps, and items of lists. */
import { toStringValue } from './conversions.ts'
import {
  CelError,
  isList,
  isMap,
  isStruct,
  type ListValue,
  noSuchOverload,
  Optional,
  type Result,
  typeNameOf,
  Uint,
  type Value,
} from './values.ts'

export function selectField(value: Value, field: string): Result {
  if (value instanceof Optional) return selectInOptional(value, field)
  return selectIfThere(value, field) ?? new CelError(`no such key: ${field}`)
}

function selectInOptional(optional: Optional, field: string): Result {
  if (optional.value === undefined) return optional
  const found = selectIfThere(optional.value, field)
  return found instanceof CelError ? found : new Optional(found)
}

/** Returns the value of a field, or undefined if the object does not have the field. */
export function selectIfThere(value: Value, field: string): Result | undefined {
  if (isStruct(value)) return value.get(field)
  if (isMap(value)) return value.get(field)
  return isList(value) ? nameInList : undefined
}

const nameInList = new CelError("unsupported index type 'string' in list")

/**
 * Whether a value has a field. False for a value that cannot have fields, except that a list causes
 * an error, because it has indexes instead.
 */
export function hasField(value: Value, field: string): Result {
  const operand = value instanceof Optional ? value.value : value
  if (operand === undefined) return false
  if (!isStruct(operand) && !isMap(operand)) return isList(operand) ? nameInList : false
  const found = operand.get(field)
  return found instanceof CelError ? found : found !== undefined
}

export function index(value: Value, at: Value): Result {
  if (value instanceof Optional) {
    if (value.value === undefined) return value
    const found = indexIfThere(value.value, at)
    return found instanceof CelError ? found : new Optional(found)
  }
  const found = indexIfThere(value, at)
  if (found !== undefined) return found
  return isList(value) ? new CelError(`index out of bounds: ${shown(at)}`) : noSuchKey(at)
}

const shown = (at: Value): string => {
  if (at instanceof Uint) return `${at.value}`
  return typeof at === 'bigint' || typeof at === 'number' ? `${at}` : ''
}

/** Returns the item of a list or the value in a map, or undefined if it does not exist. */
export function indexIfThere(value: Value, at: Value): Result | undefined {
  if (isMap(value))
    return value.isTextKeyed === true && typeof at !== 'string' ? noSuchOverload : value.get(at)
  if (isStruct(value)) return typeof at === 'string' ? value.get(at) : noSuchOverload
  return isList(value) ? item(value, at) : undefined
}

function item(list: ListValue, at: Value): Result | undefined {
  const position = positionOf(at)
  if (position instanceof CelError) return position
  return position < 0 || position >= list.size ? undefined : list.at(position)
}

function positionOf(at: Value): number | CelError {
  if (typeof at === 'bigint') return Number(at)
  if (at instanceof Uint) return at.value > INT_MAX ? unsupported(at.value) : Number(at.value)
  if (typeof at === 'number') return Number.isInteger(at) ? at : unsupported(at)
  return new CelError(`unsupported index type '${typeNameOf(at)}' in list`)
}

const INT_MAX = 2n ** 63n - 1n

const unsupported = (at: bigint | number): CelError =>
  new CelError(`unsupported index value ${at} in list`)

function noSuchKey(key: Value): CelError {
  const text = toStringValue(key)
  return typeof text === 'string' ? new CelError(`no such key: ${text}`) : noSuchOverload
}
