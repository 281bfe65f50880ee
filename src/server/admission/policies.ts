/** The admission policies that are in force, of both types: their indexes, and what keeps them current. */
import { admissionGroup } from '../../admission/admission.ts'
import type { ConditionMetrics } from '../../admission/match/condition-metrics.ts'
import {
  type CompiledMutations,
  compileMutations,
} from '../../admission/policies/compile-mutations.ts'
import { type CompiledPolicy, compilePolicy } from '../../admission/policies/compile-policy.ts'
import { FollowedPolicies } from '../../admission/policies/followed-policies.ts'
import type { PolicyMetrics } from '../../admission/policies/metrics.ts'
import { PolicyIndex } from '../../admission/policies/policy-index.ts'
import type { Config } from '../../config/config.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Access } from '../../request/resource-access.ts'

export type PoliciesParts = {
  readonly registry: Registry
  /** Of the resources of a group, by their plural; undefined: the resource is not served. */
  readonly accessIn: (group: string, version?: string) => (plural: string) => Access | undefined
  readonly policyMetrics: PolicyMetrics
  readonly conditionMetrics: ConditionMetrics
  readonly log: Log
}

export type Policies = {
  readonly validating: PolicyIndex<CompiledPolicy>
  readonly mutating: PolicyIndex<CompiledMutations>
  /** To be started before the first request is accepted. */
  readonly followed: readonly (
    | FollowedPolicies<CompiledPolicy>
    | FollowedPolicies<CompiledMutations>
  )[]
}

export function createPolicies({ featureGates }: Config, parts: PoliciesParts): Policies {
  const { registry, accessIn, policyMetrics, conditionMetrics, log } = parts
  const validating = new PolicyIndex<CompiledPolicy>(
    'validating',
    registry,
    ({ policyName, name }) => {
      policyMetrics.forget(policyName, name)
      conditionMetrics.forgetPolicy(policyName)
    },
  )
  const mutating = new PolicyIndex<CompiledMutations>('mutating', registry, ({ policyName }) =>
    conditionMetrics.forgetPolicy(policyName),
  )
  const hasMutating = featureGates.isOn('MutatingAdmissionPolicy')
  const followed = [
    new FollowedPolicies({
      type: 'validating',
      compile: compilePolicy,
      index: validating,
      accessOf: accessIn(admissionGroup),
      log,
    }),
    new FollowedPolicies({
      type: 'mutating',
      compile: compileMutations,
      index: mutating,
      accessOf: hasMutating ? accessIn(admissionGroup, 'v1alpha1') : () => undefined,
      log,
    }),
  ]
  return { validating, mutating, followed }
}
