/**
 * The schema of a type: what fields it has, in the order in which they are written, and what each of them may hold. Decoding,
 * printing, pruning and defaulting all read the same schema. Types that occur in many kinds are one object, shared by all.
 */
import type { Fields, Json } from '../api/object.ts'
import type { Structural } from './structural/structural.ts'

export type Schema = Scalar | Any | Raw | List | Dictionary | Struct

/**
 * A value that JSON writes as one text or number. `goName` is what errors call it: `string`, or `v1.Protocol` of a named
 * type.
 */
export type Scalar = {
  readonly type: ScalarType
  readonly goName: string
  /** What is published of the type; which values are refused, the rules of kinds say. */
  readonly values?: readonly string[]
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
  /** The same with six more digits. */
  | 'microTime'
  | 'quantity'
  | 'intOrString'

/** Any JSON. */
export type Any = { readonly type: 'any'; readonly goName: string }

/**
 * Any JSON, kept as its text (a string in the object) without blanks: it is written as it was read, down to the digits of
 * numbers, and costs nothing where nobody looks into it. Sets of owned fields are most of what a server stores.
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
  /** Where the catalogue has it: `core/v1`. */
  readonly packageName: string
  /** As errors name it: `v1.ConfigMap`. */
  readonly goName: string
  /** Whether appliers own it as a whole. */
  readonly isAtomic: boolean
  /** Which field says what others may be set, as published. */
  readonly unions?: Json
  readonly defaults: TypeDefaults | undefined
  /** In the order in which they are written; what stands inline in Go stands here by itself. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /** What stands inline, whose fields are among `fields`: protobuf has each as a message of its own. */
  readonly embedded: readonly Embedded[]
  /**
   * Of a custom kind: the schema of the fields besides these, built when it is first asked for. They are any JSON until somebody looks;
   * all are written in the order of their names.
   */
  readonly open?: () => Structural
}

/** `number` is that of the field in protobuf, 0 where there is none. */
export type Embedded = { readonly struct: Struct; readonly number: number }

/** What is set in values of a type besides the published defaults of its fields: fixed values, then what depends on others. */
export type TypeDefaults = {
  /** Its resource lists are as exact as they were given: upstream's group has no defaults at all. */
  readonly keepsAmounts?: true
  readonly fields: Fields
  readonly set?: (value: Fields) => Fields
  /** Which must be on for `set`. */
  readonly gate?: string
}

export type Field = {
  readonly name: string
  readonly schema: Schema
  /** Whether there is a difference between a zero value and none. */
  readonly isPointer: boolean
  /**
   * When the field is left out: `empty` when it has the zero value of its type, `absent` when it was not given, `never`:
   * then the zero value is written (`null` for what may be absent).
   */
  readonly omit: 'empty' | 'absent' | 'never'
  readonly isRequired: boolean
  /** The number of the field in protobuf; 0 where there is none. */
  readonly number: number
  /** What belongs together when several appliers or patches write it. */
  readonly topology: Topology | undefined
  readonly patch: PatchStrategy | undefined
  readonly default: Json | undefined
  /** The feature gates that must be on for the field, or for fields of its value, to be written. */
  readonly gates?: readonly FieldGate[]
}

/** `of`: not the field itself is gated, but these fields of its value. */
export type FieldGate = { readonly name: string; readonly of: readonly string[] }

export type Topology =
  | { readonly type: 'atomic' | 'set' | 'granular' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/** Strategic merge: how lists and structs are merged, and by which field the items of a list are found again. */
export type PatchStrategy = { readonly strategies: readonly string[]; readonly key: string | undefined }
