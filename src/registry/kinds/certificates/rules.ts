/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { certificateSigningRequestRules } from './certificate-signing-request.ts'
import { clusterTrustBundleRules } from './cluster-trust-bundle.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CertificateSigningRequest.certificates.k8s.io', certificateSigningRequestRules],
  ['ClusterTrustBundle.certificates.k8s.io', clusterTrustBundleRules],
]
