/** What admission by webhooks and policies leaves alone: its own configurations, so that nobody locks himself out for good. */
import { admissionGroup, type Attributes } from '../admission.ts'

const policies: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])
const webhooks: ReadonlySet<string> = new Set(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])

/** A policy that refuses these could stop the cluster. Webhooks see them. */
const reviews: ReadonlySet<string> = new Set([
  'selfsubjectreviews.authentication.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
])

/** Asks who somebody is or what he may do. Nothing of it is stored. */
export const isReview = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  reviews.has(`${resource.plural}.${resource.group}`)

export const isExemptFromPolicies = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  (resource.group === admissionGroup && policies.has(resource.plural)) || isReview({ resource })

export const isExemptFromWebhooks = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === admissionGroup && (policies.has(resource.plural) || webhooks.has(resource.plural))
