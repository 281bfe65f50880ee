/**
 * The schema of a custom resource in the form that requests use: without descriptions, with equal
 * parts shared. Schemas inside of allOf, anyOf, oneOf and not have the same form, though they may
 * say less (read-structural.ts makes both).
 */
import type { Enumeration } from './enumeration.ts'
import type { Json } from '../../../api/object.ts'

export type Structural = {
  /**
   * Empty: any type. int-or-string is both types. In a schema for validating its defaults, it may
   * be an unknown type as well.
   */
  readonly types: readonly string[]
  readonly isNullable: boolean
  /** Fields that are not in `properties` are kept. */
  readonly keepsUnknown: boolean
  /** Whether it is an embedded resource, with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean
  readonly properties: ReadonlyMap<string, Structural> | undefined
  /** The properties that have a default. */
  readonly defaults: readonly FieldDefault[]
  /**
   * The schema of fields that are not in `properties`. True: they are allowed, and nothing is known
   * about them.
   */
  readonly additional: Structural | boolean | undefined
  readonly items: Structural | undefined
  readonly default: Json | undefined
  /** How a list is merged, and what must be unique in it. Undefined: the list is atomic. */
  readonly list: ListKind | undefined
  /** Whether it is atomic for server-side apply. */
  readonly isAtomic: boolean
  /** x-kubernetes-validations. */
  readonly rules: readonly ValidationRule[]
  /** What it or its parts contain: walks that look for nothing else skip the rest. */
  readonly holds: Holds
  /** Undefined: there is nothing to check but the type. */
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
  /** Lists of type set or map, in which something must be unique. */
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
   * For validating a default: an unknown format counts as a type, and an invalid pattern is
   * ignored.
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
  /** Rejected in a CRD, but only after its defaults have been validated with it. */
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

/** Whether there is allOf, anyOf, oneOf or not. */
export const hasJunctors = ({ allOf, anyOf, oneOf, not }: Checks): boolean =>
  allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined
