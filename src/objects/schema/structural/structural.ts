/**
 * The schema of a custom resource in the form that requests use, without descriptions and with
 * equal parts shared. Schemas inside of allOf, anyOf, oneOf and not have the same form, although
 * they may contain less. Both are created by read-structural.ts.
 */
import type { Enumeration } from './enumeration.ts'
import type { Json } from '../../../api/object.ts'

export type Structural = {
  /**
   * Allowed types. An empty list allows any type. An int-or-string value has both types. In a
   * schema that validates its own defaults, the list may contain an unknown type.
   */
  readonly types: readonly string[]
  readonly isNullable: boolean
  /** Whether fields that are not in `properties` are kept. */
  readonly keepsUnknown: boolean
  /** Whether the value is an embedded resource, with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean
  readonly properties: ReadonlyMap<string, Structural> | undefined
  /** The properties that have a default. */
  readonly defaults: readonly FieldDefault[]
  /**
   * Schema of the fields that are not in `properties`. True if these are allowed, but nothing is
   * known about them.
   */
  readonly additional: Structural | boolean | undefined
  readonly items: Structural | undefined
  readonly default: Json | undefined
  /** How a list is merged and what must be unique in it. Undefined if the list is atomic. */
  readonly list: ListKind | undefined
  /** Whether the value is atomic for server-side apply. */
  readonly isAtomic: boolean
  /** The rules in x-kubernetes-validations. */
  readonly rules: readonly ValidationRule[]
  /** Contents of the value and its parts, so that traversals can skip irrelevant values. */
  readonly holds: Holds
  /** Keywords to check besides the type. Undefined if there are none. */
  readonly checks: Checks | undefined
}

export type FieldDefault = {
  readonly name: string
  readonly value: Json
  readonly property: Structural
}

export type Holds = {
  /** Embedded resources, with apiVersion, kind and metadata. */
  readonly embedded: boolean
  /** Lists of type set or map, whose items or keys must be unique. */
  readonly lists: boolean
}

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

export type ListKind =
  | { readonly by: 'value' }
  | { readonly by: 'keys'; readonly keys: readonly string[] }

/** The keywords that validate values. */
export type Checks = {
  readonly format?: string
  /**
   * Whether the schema validates its own defaults. In that case an unknown format counts as a type,
   * and an invalid pattern is ignored.
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
   * Whether items must be unique. The keyword is forbidden in a CRD, but its defaults are validated
   * with it before the CRD is rejected.
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

/** A CEL rule. */
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
