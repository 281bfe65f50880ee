/** MutatingAdmissionPolicy, whose feature gate and version are off by default. */
import type { SetUps } from '../set-ups.ts'

export const setUps: SetUps = {
  'mutating-policies': {
    flags: [
      '--feature-gates=MutatingAdmissionPolicy=true',
      '--runtime-config=admissionregistration.k8s.io/v1alpha1=true',
    ],
    // The plugin watches v1beta1, and the server does not become ready without that version.
    since: { 34: ['--runtime-config=admissionregistration.k8s.io/v1beta1=true'] },
  },
}
