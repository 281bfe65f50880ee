/** What an authorizer decides on: the part of RequestInfo that a SubjectAccessReview can also describe, without a request for that path. */
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
    }

/** If no authorizer has an opinion, the request is denied. The reason is part of the 403's message, or is kept in the request's context. */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Why an authorizer could not evaluate all rules. */
  readonly error?: string
}

/** The authorizers that `--authorization-mode` can name. */
export const authorizationModes = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof authorizationModes)[number]
