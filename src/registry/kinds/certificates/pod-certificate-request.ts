/**
 * Rules for PodCertificateRequest, with which a kubelet requests a certificate for a pod (gate
 * PodCertificateRequest, since 1.34).
 */
import type { KindRules } from '../../kind-rules.ts'

export const podCertificateRequestRules: KindRules = {
  strategy: {
    gate: 'PodCertificateRequest',
    needsResourceVersion: true,
    statusKeeps: 'metadata',
    resetPaths: { status: ['spec'] },
  },
  selectableFields: ['spec.signerName', 'spec.podName', 'spec.nodeName'],
}
