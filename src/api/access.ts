/** What access is decided on: a part of RequestInfo, so that it can also be asked about what is not in the path. */
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

/** What no authorizer has an opinion on is refused. The reason goes into the refusal, or stays with the request's context. */
export type AccessDecision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** What kept an authorizer from looking at everything. */
  readonly error?: string
}
