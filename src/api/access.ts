import type { FieldTerm } from './field-selector.ts'
import type { Requirement } from './label-selector.ts'

/**
 * Attributes of an access check. Requests and SubjectAccessReviews both have these attributes, so
 * authorizers can check both.
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
 * The parsed selectors of a list, a watch or a deletecollection. An authorizer can allow access to
 * only the objects that they select. Selectors that cannot be parsed are left out.
 */
export type AccessSelectors = {
  readonly fields: readonly FieldTerm[]
  readonly labels: readonly Requirement[]
}

/**
 * The decision of an authorizer, or of all authorizers. A request is denied if no authorizer has an
 * opinion. The 403 response contains the reason of a denial. Other reasons are only stored in the
 * request's context.
 */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Error of an authorizer that could not evaluate all rules. */
  readonly error?: string
}
