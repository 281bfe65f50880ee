/** What access is decided on: a part of RequestInfo, so that it can also be asked about what is not in the path. */
export type AccessAttributes =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      readonly plural: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
    }

/** The reason goes to the audit log, and into the refusal where there is one. */
export type AccessDecision = { readonly isAllowed: boolean; readonly reason: string }
