/**
 * Types of values. Objects look their fields up when asked, so that a schema costs nothing before a rule uses it. Strings, bytes,
 * lists and maps may have a bound on their size, which estimates of cost go by.
 */

export type Type =
  /** `isIntOrString`: the values are of two types, so that nothing is known when types are checked. */
  | { readonly kind: Simple; readonly sizeMax?: number; readonly isIntOrString?: true }
  | ListType
  | MapType
  | StructType
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly Type[] }
  | { readonly kind: 'type'; readonly of: Type }
  /** Stands for a type that the arguments decide; only in declarations and while types are checked. */
  | { readonly kind: 'parameter'; readonly name: string }

export type Simple =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  /** Of an expression that has a fault already: it fits everywhere, so that one mistake is reported once. */
  | 'error'

export type ListType = {
  readonly kind: 'list'
  readonly element: Type
  readonly sizeMax?: number
  /** Lists of type set and map are the same in any order, and adding to one merges. Keys are names of fields, not escaped. */
  readonly keys?: 'whole' | readonly string[]
}

export type MapType = { readonly kind: 'map'; readonly key: Type; readonly value: Type; readonly sizeMax?: number }

export type StructType = {
  readonly kind: 'struct'
  readonly name: string
  /** By the name that expressions use; undefined: there is no such field. */
  readonly field: (name: string) => FieldType | undefined
}

export type FieldType = {
  readonly type: Type
  /** The field's name in the data, which may need escapes in expressions. */
  readonly key: string
}

export const bool: Type = { kind: 'bool' }
export const int: Type = { kind: 'int' }
export const uint: Type = { kind: 'uint' }
export const double: Type = { kind: 'double' }
export const string: Type = { kind: 'string' }
export const bytes: Type = { kind: 'bytes' }
export const nullType: Type = { kind: 'null' }
export const timestamp: Type = { kind: 'timestamp' }
export const duration: Type = { kind: 'duration' }
export const dyn: Type = { kind: 'dyn' }
export const errorType: Type = { kind: 'error' }

export const list = (element: Type): Type => ({ kind: 'list', element })
export const map = (key: Type, value: Type): Type => ({ kind: 'map', key, value })
export const opaque = (name: string, ...parameters: readonly Type[]): Type => ({ kind: 'opaque', name, parameters })
export const optional = (of: Type): Type => opaque('optional_type', of)
export const parameter = (name: string): Type => ({ kind: 'parameter', name })
export const typeOf = (of: Type): Type => ({ kind: 'type', of })

export const isOptional = (type: Type): type is Type & { kind: 'opaque' } =>
  type.kind === 'opaque' && type.name === 'optional_type'

/** As messages name it. */
export function nameOf(type: Type): string {
  if (type.kind === 'list') return `list(${nameOf(type.element)})`
  if (type.kind === 'map') return `map(${nameOf(type.key)}, ${nameOf(type.value)})`
  if (type.kind === 'type') return `type(${isTypeItself(type.of) ? 'type' : nameOf(type.of)})`
  if (type.kind === 'error') return '!error!'
  if (!('name' in type)) return type.kind
  const parts = partsOf(type)
  return parts.length === 0 ? type.name : `${type.name}(${parts.map(nameOf).join(', ')})`
}

/** The type of types, which is called `type`. */
const isTypeItself = (type: Type): boolean => type.kind === 'type' && type.of.kind === 'dyn'

const outputNames: { readonly [kind: string]: string } = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}

/** As messages name what an expression comes to. */
export function outputNameOf(type: Type): string {
  const known = outputNames[type.kind]
  if (known !== undefined) return known
  const parts = partsOf(type)
  if (parts.length === 0) return nameOf(type)
  const name = type.kind === 'opaque' ? type.name : type.kind
  return `${name}(${parts.map(outputNameOf).join(', ')})`
}

/** The types inside of a type, in an order that two types of the same kind share. */
export function partsOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element]
  if (type.kind === 'map') return [type.key, type.value]
  if (type.kind === 'type') return [type.of]
  return type.kind === 'opaque' ? type.parameters : []
}

/** The type with other types inside; itself where nothing changes. */
export function mapParts(type: Type, change: (part: Type) => Type): Type {
  if (type.kind === 'list') {
    const element = change(type.element)
    return element === type.element ? type : { ...type, element }
  }
  if (type.kind === 'map') {
    const [key, value] = [change(type.key), change(type.value)]
    return key === type.key && value === type.value ? type : { ...type, key, value }
  }
  if (type.kind === 'type') return { ...type, of: change(type.of) }
  if (type.kind !== 'opaque' || type.parameters.length === 0) return type
  return { ...type, parameters: type.parameters.map(change) }
}

/** Field for field the same; objects by their name. */
export function isSame(one: Type, other: Type): boolean {
  if (one === other) return true
  if (one.kind !== other.kind) return false
  if (one.kind === 'struct' || one.kind === 'parameter' || one.kind === 'opaque') {
    if (!('name' in other) || one.name !== other.name) return false
  }
  const [left, right] = [partsOf(one), partsOf(other)]
  return left.length === right.length && left.every((part, at) => isSame(part, right[at] ?? dyn))
}
