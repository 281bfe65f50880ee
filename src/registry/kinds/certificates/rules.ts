/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { certificateSigningRequestRules } from './certificate-signing-request.ts'
import { clusterTrustBundleRules } from './cluster-trust-bundle.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CertificateSigningRequest.certificates.k8s.io', certificateSigningRequestRules],
  ['ClusterTrustBundle.certificates.k8s.io', clusterTrustBundleRules],
]
