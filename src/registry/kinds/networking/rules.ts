/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { ingressClassRules } from './ingress-class.ts'
import { ingressRules } from './ingress.ts'
import { ipAddressRules } from './ip-address.ts'
import { networkPolicyRules } from './network-policy.ts'
import { serviceCidrRules } from './service-cidr.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['IPAddress.networking.k8s.io', ipAddressRules],
  ['Ingress.networking.k8s.io', ingressRules],
  ['IngressClass.networking.k8s.io', ingressClassRules],
  ['NetworkPolicy.networking.k8s.io', networkPolicyRules],
  ['ServiceCIDR.networking.k8s.io', serviceCidrRules],
]
