/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const coordinationTypes = `
package coordination/v1

CoordinatedLeaseStrategy = string

Lease
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec LeaseSpec 2

LeaseSpec
  holderIdentity *string 1
  leaseDurationSeconds *int32 2
  acquireTime *meta.MicroTime 3
  renewTime *meta.MicroTime 4
  leaseTransitions *int32 5
  strategy *CoordinatedLeaseStrategy 6 gate=CoordinatedLeaderElection
  preferredHolder *string 7 gate=CoordinatedLeaderElection

package coordination/v1alpha2

LeaseCandidate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec LeaseCandidateSpec 2

LeaseCandidateSpec
  leaseName! string 1
  pingTime *meta.MicroTime 2
  renewTime *meta.MicroTime 3
  binaryVersion! string 4
  emulationVersion string 5
  strategy* coordination.CoordinatedLeaseStrategy 6

package coordination/v1beta1

LeaseCandidate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec LeaseCandidateSpec 2

LeaseCandidateSpec
  leaseName! string 1
  pingTime *meta.MicroTime 2
  renewTime *meta.MicroTime 3
  binaryVersion! string 4
  emulationVersion string 5
  strategy* coordination.CoordinatedLeaseStrategy 6
`
