import type { FieldTerm } from './field-selector.ts'
import type { Requirement } from './label-selector.ts'

/**
 * What an authorizer decides on: the part of RequestInfo that a SubjectAccessReview can also
 * describe, without a request for that path.
 */
export type AccessAttributes =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      readonly version: string
      readonly plural: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
      /**
       * Undefined: there are none. They are parsed on demand, since most authorizers ignore them.
       */
      readonly selectors?: (() => AccessSelectors) | undefined
    }

/**
 * The selectors of a list, a watch or a deletecollection: access may depend on them. One that
 * cannot be parsed is left out.
 */
export type AccessSelectors = {
  readonly fields: readonly FieldTerm[]
  readonly labels: readonly Requirement[]
}

/**
 * If no authorizer has an opinion, the request is denied. The reason is part of the 403's message,
 * or is kept in the request's context.
 */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Why an authorizer could not evaluate all rules. */
  readonly error?: string
}
