/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const policyTypes = `
package policy/v1

UnhealthyPodEvictionPolicyType = string: AlwaysAllow|IfHealthyBudget

PodDisruptionBudgetSpec
  minAvailable *IntOrString 1
  selector *meta.LabelSelector 2 patch=replace
  maxUnavailable *IntOrString 3
  unhealthyPodEvictionPolicy *UnhealthyPodEvictionPolicyType 4

PodDisruptionBudgetStatus
  observedGeneration int64 1
  disruptedPods map[string]meta.Time 2
  disruptionsAllowed! int32 3
  currentHealthy! int32 4
  desiredHealthy! int32 5
  expectedPods! int32 6
  conditions []meta.Condition 7 map=type patch=merge key=type

PodDisruptionBudget
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PodDisruptionBudgetSpec 2
  status PodDisruptionBudgetStatus 3

Eviction
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  deleteOptions *meta.DeleteOptions 2
`
