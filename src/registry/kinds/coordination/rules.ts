/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { leaseCandidateRules } from './lease-candidate.ts'
import { leaseRules } from './lease.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['Lease.coordination.k8s.io', leaseRules],
  ['LeaseCandidate.coordination.k8s.io', leaseCandidateRules],
]
