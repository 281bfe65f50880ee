import type { FieldTerm } from './field-selector.ts'
import type { Requirement } from './label-selector.ts'

/**
 * Attributes of an access check. They are the part of RequestInfo that a SubjectAccessReview can
 * also describe, without a request for that path.
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
       * Returns the selectors, which are parsed on demand because most authorizers ignore them.
       * Undefined if there are none.
       */
      readonly selectors?: (() => AccessSelectors) | undefined
    }

/**
 * Selectors of a list, a watch or a deletecollection, on which access may depend. Selectors that
 * cannot be parsed are left out.
 */
export type AccessSelectors = {
  readonly fields: readonly FieldTerm[]
  readonly labels: readonly Requirement[]
}

/**
 * Decision of the authorizers. If no authorizer has an opinion, the request is denied. The reason
 * is part of the 403's message, or is kept in the request's context.
 */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Error of an authorizer that could not evaluate all rules. */
  readonly error?: string
}
