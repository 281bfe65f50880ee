/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { certificateSigningRequestRules } from './certificate-signing-request.ts'
import { clusterTrustBundleRules } from './cluster-trust-bundle.ts'
import { podCertificateRequestRules } from './pod-certificate-request.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CertificateSigningRequest.certificates.k8s.io', certificateSigningRequestRules],
  ['ClusterTrustBundle.certificates.k8s.io', clusterTrustBundleRules],
  ['PodCertificateRequest.certificates.k8s.io', podCertificateRequestRules],
]
