/**
 * The schema of a custom resource, in the form that requests read: without descriptions, with equal parts shared. What is inside of
 * allOf, anyOf, oneOf and not has the same form, though it may say less (read-structural.ts makes both).
 */
import type { Enumeration } from './enumeration.ts'
import type { Json } from '../../api/object.ts'

export type Structural = {
  /** Empty: any. A number that may also be a text is both. Of defaults, which are checked with their schema, also a type that is none. */
  readonly types: readonly string[]
  readonly isNullable: boolean
  /** Fields that are not in `properties` stay. */
  readonly keepsUnknown: boolean
  /** It is an object with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean
  readonly properties: ReadonlyMap<string, Structural> | undefined
  /** Those of `properties` that have one. */
  readonly defaults: readonly FieldDefault[]
  /** Of fields that are not in `properties`. True: they may be there, and nothing is known of them. */
  readonly additional: Structural | boolean | undefined
  readonly items: Structural | undefined
  readonly default: Json | undefined
  /** How a list is merged, and what must not stand in it twice. Undefined: it is owned as a whole. */
  readonly list: ListKind | undefined
  /** Appliers own the object as a whole. */
  readonly isAtomic: boolean
  /** x-kubernetes-validations. */
  readonly rules: readonly ValidationRule[]
  /** What stands in it or below it: walks that look for nothing else go only there. */
  readonly holds: Holds
  /** Undefined: there is nothing to check but the type. */
  readonly checks: Checks | undefined
}

export type FieldDefault = { readonly name: string; readonly value: Json; readonly property: Structural }

export type Holds = {
  /** Objects with apiVersion, kind and metadata. */
  readonly embedded: boolean
  /** Lists in which something must not stand twice. */
  readonly lists: boolean
}

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

export type ListKind = { readonly by: 'value' } | { readonly by: 'keys'; readonly keys: readonly string[] }

/** The keywords that look at values. */
export type Checks = {
  readonly format?: string
  /** Of a default: a format that is not known counts as a type, and a pattern that is none does not count. */
  readonly isOfDefault?: true
  readonly enum?: Enumeration
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  /** Refused in a definition, after its defaults have been checked by it. */
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

/** A rule in CEL. */
export type ValidationRule = {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string
  readonly fieldPath: string
  readonly optionalOldSelf: boolean
}

/** Whether there are alternatives. */
export const hasJunctors = ({ allOf, anyOf, oneOf, not }: Checks): boolean =>
  allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined
