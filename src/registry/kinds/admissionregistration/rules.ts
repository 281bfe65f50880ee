/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { admissionPolicyBindingRules, admissionPolicyRules } from './admission-policy.ts'
import { mutatingPolicyBindingRules, mutatingPolicyRules } from './mutating-policy.ts'
import { mutatingWebhookRules, validatingWebhookRules } from './webhook-configuration.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['MutatingAdmissionPolicy.admissionregistration.k8s.io', mutatingPolicyRules],
  ['MutatingAdmissionPolicyBinding.admissionregistration.k8s.io', mutatingPolicyBindingRules],
  ['MutatingWebhookConfiguration.admissionregistration.k8s.io', mutatingWebhookRules],
  ['ValidatingAdmissionPolicy.admissionregistration.k8s.io', admissionPolicyRules],
  ['ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io', admissionPolicyBindingRules],
  ['ValidatingWebhookConfiguration.admissionregistration.k8s.io', validatingWebhookRules],
]
