/**
 * The schema of a type: which fields it has, in the order in which they are printed, and what each
 * of them may hold. Decoding, printing, pruning and defaulting all use the same schema. Types that
 * occur in many kinds are one object, shared by all.
 */
import type { Fields, Json } from '../../api/object.ts'
import type { Structural } from './structural/structural.ts'

export type Schema = Scalar | Any | Raw | List | Dictionary | Struct

/**
 * A value that is one string or number in JSON. `goName` is its name in errors: `string`, or
 * `v1.Protocol` for a named type.
 */
export type Scalar = {
  readonly type: ScalarType
  readonly goName: string
  /**
   * The enum values that are published; which values are rejected is up to the validation of each
   * kind.
   */
  readonly values?: readonly string[]
  /** The type parses its text itself, and Go passes null to it as an empty text. */
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
  /** The same with six digits of a fraction. */
  | 'microTime'
  | 'quantity'
  | 'intOrString'

/** Any JSON. */
export type Any = { readonly type: 'any'; readonly goName: string }

/**
 * Any JSON, kept as its text (a string in the object) without whitespace: it is printed as it was
 * read, down to the digits of numbers, and costs nothing if nobody looks into it. Sets of owned
 * fields (fieldsV1) are most of what a server stores.
 */
export type Raw = { readonly type: 'raw'; readonly goName: string }

export type List = {
  readonly type: 'list'
  readonly goName: string
  readonly of: Schema
  /** Protobuf has it as a message with the items in field 1. */
  readonly isWrapped?: boolean
}

export type Dictionary = {
  readonly type: 'map'
  readonly goName: string
  readonly of: Schema
}

export type Struct = {
  readonly type: 'struct'
  /** Without the package: `ConfigMap`. */
  readonly name: string
  /** Its package in the catalogue: `core/v1`. */
  readonly packageName: string
  /** Its name in errors: `v1.ConfigMap`. */
  readonly goName: string
  /** Whether it is atomic for server-side apply. */
  readonly isAtomic: boolean
  /** As published in x-kubernetes-unions: which field tells what other fields may be set. */
  readonly unions?: Json
  readonly defaults: TypeDefaults | undefined
  /** In the order in which they are printed, those of embedded structs included. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /**
   * Embedded structs, whose fields are among `fields`: protobuf has each as a message of its own.
   */
  readonly embedded: readonly Embedded[]
  /**
   * For a custom kind: the schema of the other fields, built when it is first needed. They are any
   * JSON until then; all fields are printed in the order of their names.
   */
  readonly open?: () => Structural
}

/** `number`: the field number in protobuf; 0 if there is none. */
export type Embedded = { readonly struct: Struct; readonly number: number }

/**
 * The defaults of a type besides the published defaults of its fields: fixed values, then those
 * that depend on others.
 */
export type TypeDefaults = {
  /**
   * The amounts in its resource lists are not rounded: upstream has no defaulting for this group.
   */
  readonly keepsAmounts?: true
  readonly fields: Fields
  readonly set?: (value: Fields) => Fields
  /** The feature gate that must be on for `set`. */
  readonly gate?: string
}

export type Field = {
  readonly name: string
  readonly schema: Schema
  /** Whether a zero value differs from an absent one. */
  readonly isPointer: boolean
  /**
   * When the field is omitted: `empty`: if it has the zero value of its type; `absent`: if it was
   * not given; `never`: the zero value is printed (`null` for what may be absent).
   */
  readonly omit: 'empty' | 'absent' | 'never'
  readonly isRequired: boolean
  /** The field number in protobuf; 0 if there is none. */
  readonly number: number
  /** The type of a list or map for server-side apply: which parts can have different owners. */
  readonly topology: Topology | undefined
  readonly patch: PatchStrategy | undefined
  readonly default: Json | undefined
  /** The feature gates that must be on for the field, or for fields of its value, to be written. */
  readonly gates?: readonly FieldGate[]
}

/** `of`: the fields of its value that are gated, instead of the field itself. */
export type FieldGate = { readonly name: string; readonly of: readonly string[] }

export type Topology =
  | { readonly type: 'atomic' | 'set' | 'granular' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/**
 * Strategic merge patch: how lists and structs are merged, and by which field the items of a list
 * are matched.
 */
export type PatchStrategy = {
  readonly strategies: readonly string[]
  readonly key: string | undefined
}
