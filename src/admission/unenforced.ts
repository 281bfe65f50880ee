/**
 * Replaces the MutatingAdmissionPolicy plugin while its feature gate is disabled. If the API
 * version of its kinds is still served, policies are stored, as in kube-apiserver. The client gets
 * a warning, because otherwise it would not notice that a policy is not enforced.
 */
import { admissionGroup, type Plugin } from './admission.ts'

export const unenforcedMutatingPolicies: Plugin = {
  name: 'MutatingAdmissionPolicy',
  resources: new Set(
    ['policies', 'policybindings'].map((kind) => `mutatingadmission${kind}.${admissionGroup}`),
  ),
  validate: ({ operation, subresource, resource, context }) => {
    if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    context.warnOfOwn(
      `${resource.kind} is stored but not enforced: start the server with --feature-gates=MutatingAdmissionPolicy=true`,
    )
  },
}
