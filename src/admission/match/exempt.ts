/**
 * What admission by webhooks and policies leaves alone: its own configurations, so that nobody
 * locks himself out for good.
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

/** A policy that refuses these could stop the cluster. Webhooks see them. */
const reviews: { readonly [group: string]: ReadonlySet<string> } = {
  'authentication.k8s.io': new Set(['selfsubjectreviews', 'tokenreviews']),
  'authorization.k8s.io': new Set([
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ]),
}

/** Asks who somebody is or what he may do. Nothing of it is stored. */
export const isReview = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  Object.hasOwn(reviews, resource.group) && reviews[resource.group]?.has(resource.plural) === true

export const isExemptFromPolicies = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  (resource.group === admissionGroup && policies.has(resource.plural)) || isReview({ resource })

export const isExemptFromWebhooks = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === admissionGroup &&
  (policies.has(resource.plural) || webhooks.has(resource.plural))
