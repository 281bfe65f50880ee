/**
 * Stands in for the MutatingAdmissionPolicy plugin while its feature gate is off. The API version
 * of its kinds may still be served, and policies are stored then, as in kube-apiserver. The client
 * gets a warning, because a policy that is silently not enforced is worse than a missing one.
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
