/**
 * CEL types. Structs look up their fields on demand, so that a schema takes no time before a rule
 * uses it. Strings, bytes, lists and maps can have a size bound for cost estimates.
 */

export type Type =
  /**
   * A type that consists of no other types. `isIntOrString` means that a value can be an int or a
   * string, so the checker does not know its type. `isAny` marks the type `any`. It is dynamic, but
   * a macro cannot iterate over it.
   */
  | {
      readonly kind: Simple
      readonly sizeMax?: number
      readonly isIntOrString?: true
      readonly isAny?: true
    }
  | ListType
  | MapType
  | StructType
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly Type[] }
  /**
   * The type of a value that is itself a type: `type(of)`. Without `of`, it is the type named
   * `type`.
   */
  | { readonly kind: 'type'; readonly of?: Type }
  /**
   * A type parameter of a function, such as the type of the items of a list. It occurs only in
   * declarations and during type-checking. The arguments of a call determine its type.
   */
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
  /**
   * The type of an expression with an error. It is compatible with all types, so that each error is
   * reported once.
   */
  | 'error'

export type ListType = {
  readonly kind: 'list'
  readonly element: Type
  readonly sizeMax?: number
  /**
   * For a list of type set or map: the fields that identify an item, without escape sequences in
   * their names. Two such lists with the same items in another order are equal. Adding such lists
   * merges their items.
   */
  readonly keys?: 'whole' | readonly string[]
}

export type MapType = {
  readonly kind: 'map'
  readonly key: Type
  readonly value: Type
  readonly sizeMax?: number
}

export type StructType = {
  readonly kind: 'struct'
  readonly name: string
  /** Returns a field by its name in expressions, or undefined if it does not exist. */
  readonly field: (name: string) => FieldType | undefined
}

export type FieldType = {
  readonly type: Type
  /**
   * The name of the field in the JSON of an object. In expressions, the name can have escape
   * sequences.
   */
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
export const any: Type = { kind: 'dyn', isAny: true }
export const errorType: Type = { kind: 'error' }

export const list = (element: Type): Type => ({ kind: 'list', element })
export const map = (key: Type, value: Type): MapType => ({ kind: 'map', key, value })
export const opaque = (name: string, ...parameters: readonly Type[]): Type => ({
  kind: 'opaque',
  name,
  parameters,
})
export const optional = (of: Type): Type => opaque('optional_type', of)
export const parameter = (name: string): Type => ({ kind: 'parameter', name })
export const anyType: Type = { kind: 'type' }
export const typeOf = (of: Type): Type => ({ kind: 'type', of })

/**
 * Returns a struct type with the given fields. The keys of `fields` are the names of the fields in
 * the data.
 */
export function struct(name: string, fields: { readonly [name: string]: Type }): StructType {
  const known = new Map(
    Object.entries(fields).map(([key, type]): [string, FieldType] => [key, { key, type }]),
  )
  return { kind: 'struct', name, field: (wanted) => known.get(wanted) }
}

export const isOptional = (type: Type): type is Type & { kind: 'opaque' } =>
  type.kind === 'opaque' && type.name === 'optional_type'

/** Returns the name of a type, as used in messages. */
export function nameOf(type: Type): string {
  if (type.kind === 'list') return `list(${nameOf(type.element)})`
  if (type.kind === 'map') return `map(${nameOf(type.key)}, ${nameOf(type.value)})`
  if (type.kind === 'type') return type.of === undefined ? 'type' : `type(${nameOf(type.of)})`
  if (type.kind === 'error') return '!error!'
  if (isAny(type)) return 'any'
  if (!('name' in type)) return type.kind
  const parts = partsOf(type)
  return parts.length === 0 ? type.name : `${type.name}(${parts.map(nameOf).join(', ')})`
}

export const isAny = (type: Type): boolean => type.kind === 'dyn' && type.isAny === true

const outputNames: { readonly [kind: string]: string } = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}

/**
 * Returns the name of the type of an expression's result. Messages use other names for it than
 * `nameOf`.
 */
export function outputNameOf(type: Type): string {
  const known = isAny(type) ? 'google.protobuf.Any' : outputNames[type.kind]
  if (known !== undefined) return known
  const parts = partsOf(type)
  if (parts.length === 0) return nameOf(type)
  const name = type.kind === 'opaque' ? type.name : type.kind
  return `${name}(${parts.map(outputNameOf).join(', ')})`
}

/**
 * Returns the types of which a type consists, such as the key and value types of a map. Their order
 * is always the same.
 */
export function partsOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element]
  if (type.kind === 'map') return [type.key, type.value]
  if (type.kind === 'type') return type.of === undefined ? [] : [type.of]
  return type.kind === 'opaque' ? type.parameters : []
}

/** Replaces the types of which a type consists. Returns the same object if nothing changes. */
export function mapParts(type: Type, change: (part: Type) => Type): Type {
  if (type.kind === 'list') {
    const element = change(type.element)
    return element === type.element ? type : { ...type, element }
  }
  if (type.kind === 'map') {
    const [key, value] = [change(type.key), change(type.value)]
    return key === type.key && value === type.value ? type : { ...type, key, value }
  }
  if (type.kind === 'type') return type.of === undefined ? type : typeOf(change(type.of))
  if (type.kind !== 'opaque' || type.parameters.length === 0) return type
  return { ...type, parameters: type.parameters.map(change) }
}

/** Whether two types are equal. Structs are compared by name. */
export function isSame(one: Type, other: Type): boolean {
  if (one === other) return true
  if (one.kind !== other.kind) return false
  if (one.kind === 'struct' || one.kind === 'parameter' || one.kind === 'opaque') {
    if (!('name' in other) || one.name !== other.name) return false
  }
  const [left, right] = [partsOf(one), partsOf(other)]
  return left.length === right.length && left.every((part, at) => isSame(part, right[at] ?? dyn))
}
