import type { FieldTerm } from './field-selector.ts'
import type { Requirement } from './label-selector.ts'

/**
 * Attributes of an access check. They are the fields of RequestInfo that a SubjectAccessReview also
 * specifies, so both requests and reviews can be checked.
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
       * Undefined if the request has no selectors.
       */
      readonly selectors?: (() => AccessSelectors) | undefined
    }

/**
 * Selectors of a list, a watch or a deletecollection. Authorizers can restrict access to them.
 * Selectors that cannot be parsed are left out.
 */
export type AccessSelectors = {
  readonly fields: readonly FieldTerm[]
  readonly labels: readonly Requirement[]
}

/**
 * Decision of the authorizers. If no authorizer has an opinion, the request is denied. The message
 * of the 403 response contains the reason of a denial. For other decisions, the reason is stored in
 * the request's context.
 */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Error of an authorizer that could not evaluate all rules. */
  readonly error?: string
}
