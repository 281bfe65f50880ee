/**
 * The schema of a type: its fields in the order in which they are printed, and their types.
 * Decoding, printing, pruning and defaulting use the same schema. A type that is used in many kinds
 * is a single object.
 */
import type { Fields, Json } from '../../api/object.ts'
import type { Structural } from './structural/structural.ts'

export type Schema = Scalar | Any | Raw | List | Dictionary | Struct

/**
 * A string, number or boolean in JSON. `goName` is the name of its type in error messages:
 * `string`, or `v1.Protocol` for a named type.
 */
export type Scalar = {
  readonly type: ScalarType
  readonly goName: string
  /**
   * The values that the published OpenAPI schema lists. Other values are rejected only if the
   * validation of the kind rejects them.
   */
  readonly values?: readonly string[]
  /**
   * Whether null in JSON is decoded as an empty string. In Go, such a type has its own decoder,
   * which receives an empty text for null.
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
export type Any = {
  readonly type: 'any'
  readonly goName: string
  /** Whether errors name the fields inside the value, although its type reads itself. */
  readonly namesInner?: true
}

/** The first release in which errors name the fields inside of types that read themselves. */
export const INNER_NAMED_SINCE = 35

/**
 * Any JSON, stored as text without whitespace. It is printed as it is, so that the digits of
 * numbers stay the same, and parsed only if necessary. The most important example is the field
 * fieldsV1 of managers, which is the largest part of most stored objects.
 */
export type Raw = { readonly type: 'raw'; readonly goName: string }

export type List = {
  readonly type: 'list'
  readonly goName: string
  readonly of: Schema
  /** Whether the list is a message of its own in protobuf, whose field 1 contains the items. */
  readonly isWrapped?: boolean
}

export type Dictionary = {
  readonly type: 'map'
  readonly goName: string
  readonly of: Schema
}

/** The first release in which items of associative lists can omit some of their keys. */
export const PARTIAL_KEYS_SINCE = 34

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
  /** Whether items of associative lists can omit some of their keys for server-side apply. */
  readonly hasPartialKeys?: boolean
  /**
   * Value of x-kubernetes-unions in OpenAPI. It names a field whose value determines which other
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
   * Returns the schema of all fields that `fields` does not contain, if the kind is custom. The
   * schema is created when it is first needed. Until then, these fields are decoded as any JSON.
   * All fields of a custom kind are printed in the order of their names.
   */
  readonly open?: () => Structural
}

/** An embedded struct. `number` is its field number in protobuf, or 0 if it has no field number. */
export type Embedded = { readonly struct: Struct; readonly number: number }

/**
 * Defaults of a type that its published schema does not contain. Fixed values are set first, and
 * then values that depend on other fields.
 */
export type TypeDefaults = {
  /**
   * Whether quantities in resource lists of this type are not rounded. kube-apiserver rounds them
   * when it sets defaults, but it sets no defaults for some API groups.
   */
  readonly keepsAmounts?: true
  readonly fields: Fields
  readonly set?: (value: Fields) => Fields
  /** The feature gate that must be on. Otherwise `set` is not called. */
  readonly gate?: string
}

export type Field = {
  readonly name: string
  readonly schema: Schema
  /** Whether the field is a pointer in Go, so that an absent value and a zero value differ. */
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
   * How server-side apply merges a list or map. This determines whether its parts can have
   * different owners.
   */
  readonly topology: Topology | undefined
  readonly patch: PatchStrategy | undefined
  readonly default: Json | undefined
  /**
   * Whether the default is the zero value, which means the same as an absent value for this field.
   * Such a default is published, but never set.
   */
  readonly isDefaultZero?: true
  /**
   * Feature gates that must be on. Otherwise clients cannot set the field, or certain fields inside
   * it.
   */
  readonly gates?: readonly FieldGate[]
}

/**
 * A feature gate of a field. If `of` is not empty, the gate applies only to these fields inside the
 * field.
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
