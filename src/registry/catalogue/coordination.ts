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
  strategy *CoordinatedLeaseStrategy 6
  preferredHolder *string 7
`
