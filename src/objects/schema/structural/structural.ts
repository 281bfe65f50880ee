/**
 * The parsed schema of a custom resource, as requests need it: without descriptions, and with equal
 * parts as one object. The schemas in allOf, anyOf, oneOf and not have the same type here, but may
 * contain fewer keywords. read-structural.ts creates all of them.
 */
import type { Enumeration } from './enumeration.ts'
import type { Json } from '../../../api/object.ts'

export type Structural = {
  /**
   * Allowed types. If the list is empty, any type is allowed. An int-or-string has two types. If
   * the schema validates its own defaults, the list can contain an unknown type.
   */
  readonly types: readonly string[]
  readonly isNullable: boolean
  /** Whether fields that are not in `properties` are kept. */
  readonly keepsUnknown: boolean
  /** Whether the value is an embedded resource with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean
  readonly properties: ReadonlyMap<string, Structural> | undefined
  /** The properties that have defaults, with their values. */
  readonly defaults: readonly FieldDefault[]
  /**
   * Schema of the fields that are not in `properties`. True if such fields are allowed but have no
   * schema.
   */
  readonly additional: Structural | boolean | undefined
  readonly items: Structural | undefined
  readonly default: Json | undefined
  /**
   * How a list is merged, and which items or keys must be unique. Undefined if the list is atomic.
   */
  readonly list: ListKind | undefined
  /** Whether the value is atomic for server-side apply. */
  readonly isAtomic: boolean
  /** The rules in x-kubernetes-validations. */
  readonly rules: readonly ValidationRule[]
  /**
   * Describes the possible contents of the value, so that code can skip values that do not concern
   * it.
   */
  readonly holds: Holds
  /** Keywords to validate in addition to the type. Undefined if there are no such keywords. */
  readonly checks: Checks | undefined
}

export type FieldDefault = {
  readonly name: string
  readonly value: Json
  readonly property: Structural
}

export type Holds = {
  /** Whether there are embedded resources with apiVersion, kind and metadata. */
  readonly embedded: boolean
  /** Whether there are lists of type set or map, whose items or keys must be unique. */
  readonly lists: boolean
}

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

export type ListKind =
  | { readonly by: 'value' }
  | { readonly by: 'keys'; readonly keys: readonly string[] }

/** The keywords that restrict values. */
export type Checks = {
  readonly format?: string
  /**
   * Whether the schema validates its own defaults. In this case, a format that is not known counts
   * as a type, and an invalid pattern is ignored.
   */
  readonly isOfDefault?: true
  readonly enum?: Enumeration
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  /**
   * Whether the items of a list must be unique. CRDs that contain this keyword are rejected, but
   * their defaults are validated with it first.
   */
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly allOf?: readonly Structural[]
  readonly anyOf?: readonly Structural[]
  readonly oneOf?: readonly Structural[]
  readonly not?: Structural
}

/** A rule of x-kubernetes-validations. It is an expression in CEL. */
export type ValidationRule = {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string
  readonly fieldPath: string
  readonly optionalOldSelf: boolean
}

/** Whether a schema uses allOf, anyOf, oneOf or not. */
export const hasJunctors = ({ allOf, anyOf, oneOf, not }: Checks): boolean =>
  allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined
