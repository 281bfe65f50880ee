/**
 * The CEL variables of authentication and authorization configurations: the claims of a token, the
 * user to which the claims are mapped, and the request in the form of the spec of a
 * SubjectAccessReview.
 */
import { type Environment, withVariables } from './environment.ts'
import { kubernetesEnvironment, type CelVersion } from './kubernetes.ts'
import { any, list, map, type MapType, string, struct, type StructType } from './types.ts'

/** Type of the claims of a token. A claim can have any value. */
export const claimsType: MapType = map(string, any)

export const claimsEnvironment = (version: CelVersion): Environment =>
  withVariables(kubernetesEnvironment(version), { claims: claimsType })

export const userType: StructType = struct('kubernetes.UserInfo', {
  username: string,
  uid: string,
  groups: list(string),
  extra: map(string, list(string)),
})

export const userEnvironment = (version: CelVersion): Environment =>
  withVariables(kubernetesEnvironment(version), { user: userType })

/**
 * Returns the environment for expressions over requests. `hasSelectors` enables the fields for
 * selectors (feature gate AuthorizeWithSelectors).
 */
export const accessReviewEnvironment = (
  version: CelVersion,
  { hasSelectors }: { readonly hasSelectors: boolean },
): Environment =>
  withVariables(kubernetesEnvironment(version), { request: accessReviewType({ hasSelectors }) })

export const accessReviewType = ({
  hasSelectors,
}: {
  readonly hasSelectors: boolean
}): StructType => (hasSelectors ? selectiveReview : plainReview)

const requirement = struct('kubernetes.SelectorRequirement', {
  key: string,
  operator: string,
  values: list(string),
})
const selector = (name: string): StructType =>
  struct(name, { rawSelector: string, requirements: list(requirement) })

const attributes = {
  namespace: string,
  verb: string,
  group: string,
  version: string,
  resource: string,
  subresource: string,
  name: string,
}

function reviewType(resourceAttributes: StructType): StructType {
  return struct('kubernetes.SubjectAccessReviewSpec', {
    resourceAttributes,
    nonResourceAttributes: struct('kubernetes.NonResourceAttributes', {
      path: string,
      verb: string,
    }),
    user: string,
    groups: list(string),
    extra: map(string, list(string)),
    uid: string,
  })
}

const plainReview = reviewType(struct('kubernetes.ResourceAttributes', attributes))
const selectiveReview = reviewType(
  struct('kubernetes.ResourceAttributes', {
    ...attributes,
    fieldSelector: selector('kubernetes.FieldSelectorAttributes'),
    labelSelector: selector('kubernetes.LabelSelectorAttributes'),
  }),
)
