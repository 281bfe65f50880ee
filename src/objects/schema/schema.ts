/**
 * The schema of a type: its fields in the order in which they are printed, and the type of each.
 * Decoding, printing, pruning and defaulting all use the same schema. A type that occurs in many
 * kinds is one object, shared by all of them.
 */
import type { Fields, Json } from '../../api/object.ts'
import type { Structural } from './structural/structural.ts'

export type Schema = Scalar | Any | Raw | List | Dictionary | Struct

/**
 * A value that is a single string, number or boolean in JSON. `goName` is its name in errors:
 * `string`, or `v1.Protocol` for a named type.
 */
export type Scalar = {
  readonly type: ScalarType
  readonly goName: string
  /** The published enum values. The validation of each kind decides which values are rejected. */
  readonly values?: readonly string[]
  /**
   * Whether the type parses its text itself, in which case Go passes null to it as an empty text.
   */
  readonly isNullEmpty?: true
}

export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'float64'
  /** Base64. */
  | 'bytes'
  /** RFC 3339 in UTC, to the second. */
  | 'time'
  /** RFC 3339 in UTC, to the microsecond. */
  | 'microTime'
  | 'quantity'
  | 'intOrString'

/** Any JSON. */
export type Any = { readonly type: 'any'; readonly goName: string }

/**
 * Any JSON, kept as its text without whitespace (a string in the object). It is printed as it was
 * read, down to the digits of numbers, and is parsed only when needed. The sets of owned fields
 * (fieldsV1), which make up most of the stored data, have this type.
 */
export type Raw = { readonly type: 'raw'; readonly goName: string }

export type List = {
  readonly type: 'list'
  readonly goName: string
  readonly of: Schema
  /** Whether protobuf has the list as a message with the items in field 1. */
  readonly isWrapped?: boolean
}

export type Dictionary = {
  readonly type: 'map'
  readonly goName: string
  readonly of: Schema
}

export type Struct = {
  readonly type: 'struct'
  /** Name without the package, such as `ConfigMap`. */
  readonly name: string
  /** Package in the catalogue, such as `core/v1`. */
  readonly packageName: string
  /** Name in errors, such as `v1.ConfigMap`. */
  readonly goName: string
  /** Whether the struct is atomic for server-side apply. */
  readonly isAtomic: boolean
  /**
   * Value published as x-kubernetes-unions: which field determines what other fields may be set.
   */
  readonly unions?: Json
  readonly defaults: TypeDefaults | undefined
  /** All fields in the order in which they are printed, including those of embedded structs. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /**
   * Embedded structs, whose fields are also in `fields`. Protobuf has each as a message of its own.
   */
  readonly embedded: readonly Embedded[]
  /**
   * Returns the schema of the fields of a custom kind that are not in `fields`. It is built when
   * first needed; until then these fields are decoded as any JSON. All fields of a custom kind are
   * printed sorted by name.
   */
  readonly open?: () => Structural
}

/** An embedded struct. `number` is its field number in protobuf, or 0 if it has none. */
export type Embedded = { readonly struct: Struct; readonly number: number }

/**
 * Defaults of a type besides the published defaults of its fields: fixed values first, then those
 * that depend on other fields.
 */
export type TypeDefaults = {
  /**
   * Whether the amounts in the type's resource lists are kept exact. kube-apiserver does not round
   * them, because the group has no defaulting.
   */
  readonly keepsAmounts?: true
  readonly fields: Fields
  readonly set?: (value: Fields) => Fields
  /** The feature gate that must be on for `set` to be called. */
  readonly gate?: string
}

export type Field = {
  readonly name: string
  readonly schema: Schema
  /** Whether a zero value differs from an absent one. */
  readonly isPointer: boolean
  /**
   * When the field is omitted.
   * - `empty`: if it has the zero value of its type
   * - `absent`: if it was not given
   * - `never`: the zero value is printed, or `null` if the value may be absent
   */
  readonly omit: 'empty' | 'absent' | 'never'
  readonly isRequired: boolean
  /** Field number in protobuf, or 0 if there is none. */
  readonly number: number
  /**
   * Type of a list or map for server-side apply, which determines the parts that can have different
   * owners.
   */
  readonly topology: Topology | undefined
  readonly patch: PatchStrategy | undefined
  readonly default: Json | undefined
  /** Feature gates that must be on for the field, or for fields of its value, to be written. */
  readonly gates?: readonly FieldGate[]
}

/**
 * A feature gate of a field. If `of` is not empty, it gates these fields of the value instead of
 * the field itself.
 */
export type FieldGate = { readonly name: string; readonly of: readonly string[] }

export type Topology =
  | { readonly type: 'atomic' | 'set' | 'granular' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/**
 * How strategic merge patch merges a list or struct, and the field by which it matches the items of
 * a list.
 */
export type PatchStrategy = {
  readonly strategies: readonly string[]
  readonly key: string | undefined
}
