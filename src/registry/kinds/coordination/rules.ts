/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { leaseCandidateRules } from './lease-candidate.ts'
import { leaseRules } from './lease.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['Lease.coordination.k8s.io', leaseRules],
  ['LeaseCandidate.coordination.k8s.io', leaseCandidateRules],
]
