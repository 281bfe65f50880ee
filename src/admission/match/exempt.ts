/**
 * Resources to which admission webhooks and policies do not apply: the configurations of the
 * webhooks and policies themselves. Otherwise a mistake in a configuration could prevent all users
 * from correcting it.
 */
import { admissionGroup, type Attributes } from '../admission.ts'

const policies: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])
const webhooks: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
])

/**
 * Reviews (such as TokenReviews and SubjectAccessReviews) to which policies do not apply, because
 * rejecting them could make the cluster unusable. Webhooks do apply to them.
 */
const reviews: { readonly [group: string]: ReadonlySet<string> } = {
  'authentication.k8s.io': new Set(['selfsubjectreviews', 'tokenreviews']),
  'authorization.k8s.io': new Set([
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ]),
}

/** Returns whether the resource is a token or access review. Reviews are never stored. */
export const isReview = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  Object.hasOwn(reviews, resource.group) && reviews[resource.group]?.has(resource.plural) === true

export const isExemptFromPolicies = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  (resource.group === admissionGroup && policies.has(resource.plural)) || isReview({ resource })

export const isExemptFromWebhooks = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === admissionGroup &&
  (policies.has(resource.plural) || webhooks.has(resource.plural))
