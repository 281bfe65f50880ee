/**
 * The schema of a type: its fields in the order in which they are printed, and their types.
 * Decoding, printing, pruning and defaulting use the same schema. A type that is used in many kinds
 * is a single object.
 */
import type { Fields, Json } from '../../api/object.ts'
import type { Structural } from './structural/structural.ts'

export type Schema = Scalar | Any | Raw | List | Dictionary | Struct

/**
 * A value that is a string, number or boolean in JSON. `goName` is its name in error messages:
 * `string`, or `v1.Protocol` for a named type.
 */
export type Scalar = {
  readonly type: ScalarType
  readonly goName: string
  /**
   * The values of the enum, as published in OpenAPI. The validation of each kind determines which
   * values are rejected.
   */
  readonly values?: readonly string[]
  /**
   * Whether null in JSON is decoded as an empty string. In Go, such a type parses its own text, and
   * receives an empty text for null.
   */
  readonly isNullEmpty?: true
}

export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'float64'
  /** Base64-encoded bytes. */
  | 'bytes'
  /** A time in RFC 3339 format, in UTC, with a precision of seconds. */
  | 'time'
  /** A time in RFC 3339 format, in UTC, with a precision of microseconds. */
  | 'microTime'
  | 'quantity'
  | 'intOrString'

/** JSON of any type. */
export type Any = { readonly type: 'any'; readonly goName: string }

/**
 * JSON of any type, represented by its text without whitespace. It is printed unchanged, including
 * the digits of numbers, and is parsed only if necessary. This type is used for the sets of owned
 * fields (fieldsV1), which are the largest part of most stored objects.
 */
export type Raw = { readonly type: 'raw'; readonly goName: string }

export type List = {
  readonly type: 'list'
  readonly goName: string
  readonly of: Schema
  /** Whether protobuf represents the list as a message with the items in field 1. */
  readonly isWrapped?: boolean
}

export type Dictionary = {
  readonly type: 'map'
  readonly goName: string
  readonly of: Schema
}

export type Struct = {
  readonly type: 'struct'
  /** Name of the type without the package, such as `ConfigMap`. */
  readonly name: string
  /** Package of the catalogue, such as `core/v1`. */
  readonly packageName: string
  /** Name of the type in error messages, such as `v1.ConfigMap`. */
  readonly goName: string
  /** Whether the struct is atomic for server-side apply. */
  readonly isAtomic: boolean
  /**
   * Value of x-kubernetes-unions in OpenAPI. It specifies a field that determines which other
   * fields can be set.
   */
  readonly unions?: Json
  readonly defaults: TypeDefaults | undefined
  /** All fields, including those of embedded structs, in the order in which they are printed. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /**
   * Embedded structs, whose fields are also in `fields`. In protobuf, each of them is a separate
   * message.
   */
  readonly embedded: readonly Embedded[]
  /**
   * Returns the schema of those fields of a custom kind that are not in `fields`. It is created
   * when it is first needed; until then, these fields are decoded as JSON of any type. All fields
   * of a custom kind are printed sorted by name.
   */
  readonly open?: () => Structural
}

/** An embedded struct. `number` is its field number in protobuf, or 0 if it has no field number. */
export type Embedded = { readonly struct: Struct; readonly number: number }

/**
 * Defaults of a type in addition to the published defaults of its fields. Fixed values are set
 * first, then the values that depend on other fields.
 */
export type TypeDefaults = {
  /**
   * Whether the quantities in the resource lists of the type keep their exact values.
   * kube-apiserver does not round them, because the API group has no defaulting.
   */
  readonly keepsAmounts?: true
  readonly fields: Fields
  readonly set?: (value: Fields) => Fields
  /** Feature gate that must be on for `set` to be called. */
  readonly gate?: string
}

export type Field = {
  readonly name: string
  readonly schema: Schema
  /** Whether a zero value differs from an absent value. */
  readonly isPointer: boolean
  /**
   * Condition under which the field is omitted.
   * - `empty`: if it has the zero value of its type
   * - `absent`: if it is absent
   * - `never`: the zero value is printed, or `null` if the value can be absent
   */
  readonly omit: 'empty' | 'absent' | 'never'
  readonly isRequired: boolean
  /** Field number in protobuf, or 0 if it has no field number. */
  readonly number: number
  /**
   * How server-side apply merges a list or map, which determines the parts that can have different
   * owners.
   */
  readonly topology: Topology | undefined
  readonly patch: PatchStrategy | undefined
  readonly default: Json | undefined
  /**
   * Whether the default is the zero value of a field for which zero and absent are the same. Such a
   * default is published, but not set.
   */
  readonly isDefaultZero?: true
  /** Feature gates that must be on to write the field, or to write certain fields of its value. */
  readonly gates?: readonly FieldGate[]
}

/**
 * A feature gate of a field. If `of` is not empty, the gate applies to these fields of the value
 * instead of the field itself.
 */
export type FieldGate = { readonly name: string; readonly of: readonly string[] }

export type Topology =
  | { readonly type: 'atomic' | 'set' | 'granular' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/**
 * How strategic merge patch merges a list or struct, and the field by which it identifies list
 * items.
 */
export type PatchStrategy = {
  readonly strategies: readonly string[]
  readonly key: string | undefined
}
