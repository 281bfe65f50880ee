/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const batchTypes = `
package batch/v1

CompletionMode = string: Indexed|NonIndexed
PodFailurePolicyAction = string: Count|FailIndex|FailJob|Ignore
PodFailurePolicyOnExitCodesOperator = string: In|NotIn
PodReplacementPolicy = string: Failed|TerminatingOrFailed
JobConditionType = string
ConcurrencyPolicy = string: Allow|Forbid|Replace

Job
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec JobSpec 2 gate=JobPodReplacementPolicy:podReplacementPolicy;JobManagedBy:managedBy;JobBackoffLimitPerIndex:backoffLimitPerIndex,maxFailedIndexes;JobSuccessPolicy:successPolicy
  status JobStatus 3

PodFailurePolicyOnExitCodesRequirement
  containerName *string 1
  operator! PodFailurePolicyOnExitCodesOperator 2
  values! []int32 3 set

PodFailurePolicyOnPodConditionsPattern
  type! core.PodConditionType 1
  status! core.ConditionStatus 2

PodFailurePolicyRule
  action! PodFailurePolicyAction 1
  onExitCodes *PodFailurePolicyOnExitCodesRequirement 2
  onPodConditions []PodFailurePolicyOnPodConditionsPattern 3 atomic

PodFailurePolicy
  rules! []PodFailurePolicyRule 1 atomic

SuccessPolicy
  rules! []SuccessPolicyRule 1 atomic

SuccessPolicyRule
  succeededIndexes *string 1
  succeededCount *int32 2

JobSpec
  parallelism *int32 1
  completions *int32 2
  activeDeadlineSeconds *int64 3
  podFailurePolicy *PodFailurePolicy 11
  successPolicy *SuccessPolicy 16
  backoffLimit *int32 7
  backoffLimitPerIndex *int32 12
  maxFailedIndexes *int32 13
  selector *meta.LabelSelector 4
  manualSelector *bool 5
  template! core.PodTemplateSpec 6
  ttlSecondsAfterFinished *int32 8
  completionMode *CompletionMode 9
  suspend *bool 10
  podReplacementPolicy *PodReplacementPolicy 14
  managedBy *string 15

JobStatus
  conditions []JobCondition 1 atomic patch=merge key=type
  startTime *meta.Time 2
  completionTime *meta.Time 3
  active int32 4
  succeeded int32 5
  failed int32 6
  terminating *int32 11
  completedIndexes string 7
  failedIndexes *string 10
  uncountedTerminatedPods *UncountedTerminatedPods 8
  ready *int32 9

UncountedTerminatedPods
  succeeded []UID 1 set
  failed []UID 2 set

JobCondition
  type! JobConditionType 1
  status! core.ConditionStatus 2
  lastProbeTime meta.Time 3
  lastTransitionTime meta.Time 4
  reason string 5
  message string 6

JobTemplateSpec
  metadata meta.ObjectMeta 1
  spec JobSpec 2

CronJob
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec CronJobSpec 2
  status CronJobStatus 3

CronJobSpec
  schedule! string 1
  timeZone *string 8
  startingDeadlineSeconds *int64 2
  concurrencyPolicy ConcurrencyPolicy 3
  suspend *bool 4
  jobTemplate! JobTemplateSpec 5
  successfulJobsHistoryLimit *int32 6
  failedJobsHistoryLimit *int32 7

CronJobStatus
  active []core.ObjectReference 1 atomic
  lastScheduleTime *meta.Time 4
  lastSuccessfulTime *meta.Time 5
`
