/**
 * The MutatingAdmissionPolicy plugin while its feature gate is off, though the version that has its
 * kinds may be served. Policies are stored, as upstream; the writer gets a warning, since a policy
 * that is silently not enforced is worse than none.
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
