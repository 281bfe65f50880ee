/**
 * The admission policies of both types: their indexes, and the informers that keep the indexes
 * current.
 */
import { admissionGroup } from '../../admission/admission.ts'
import type { ConditionMetrics } from '../../admission/match/condition-metrics.ts'
import {
  type CompiledMutations,
  compileMutations,
} from '../../admission/policies/compile-mutations.ts'
import { type CompiledPolicy, compilePolicy } from '../../admission/policies/compile-policy.ts'
import { PoliciesInformer } from '../../admission/policies/policies-informer.ts'
import type { PolicyMetrics } from '../../admission/policies/metrics.ts'
import { PolicyIndex } from '../../admission/policies/policy-index.ts'
import type { Config } from '../../config/config.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Access } from '../../request/resource-access.ts'

export type PoliciesOptions = {
  readonly registry: Registry
  /**
   * Returns access to a resource of the API group by the name of the resource. Returns undefined if
   * the resource is not served.
   */
  readonly accessIn: (group: string, version?: string) => (plural: string) => Access | undefined
  readonly policyMetrics: PolicyMetrics
  readonly conditionMetrics: ConditionMetrics
  readonly log: Log
}

export type Policies = {
  readonly validating: PolicyIndex<CompiledPolicy>
  readonly mutating: PolicyIndex<CompiledMutations>
  /**
   * Informers that read the policies and their changes. The server must wait until all informers
   * have started before it accepts the first request.
   */
  readonly informers: readonly (
    | PoliciesInformer<CompiledPolicy>
    | PoliciesInformer<CompiledMutations>
  )[]
}

export function createPolicies({ featureGates }: Config, options: PoliciesOptions): Policies {
  const { registry, accessIn, policyMetrics, conditionMetrics, log } = options
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
  const informers = [
    new PoliciesInformer({
      type: 'validating',
      compile: (spec, slice) => compilePolicy(spec, registry.release, slice),
      index: validating,
      accessOf: accessIn(admissionGroup),
      log,
    }),
    new PoliciesInformer({
      type: 'mutating',
      compile: (spec, slice) => compileMutations(spec, registry.release, slice),
      index: mutating,
      accessOf: hasMutating ? accessIn(admissionGroup, 'v1alpha1') : () => undefined,
      log,
    }),
  ]
  return { validating, mutating, informers }
}
