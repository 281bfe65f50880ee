/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const flowcontrolTypes = `
package flowcontrol/v1

FlowDistinguisherMethodType = string
SubjectKind = string
FlowSchemaConditionType = string
PriorityLevelEnablement = string
LimitResponseType = string
PriorityLevelConfigurationConditionType = string
ConditionStatus = string

FlowSchema
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec FlowSchemaSpec 2
  status FlowSchemaStatus 3

FlowSchemaSpec
  priorityLevelConfiguration! PriorityLevelConfigurationReference 1
  matchingPrecedence+ int32 2
  distinguisherMethod *FlowDistinguisherMethod 3
  rules []PolicyRulesWithSubjects 4 atomic

FlowDistinguisherMethod
  type! FlowDistinguisherMethodType 1

PriorityLevelConfigurationReference
  name! string 1

PolicyRulesWithSubjects
  subjects! []Subject 1 atomic
  resourceRules []ResourcePolicyRule 2 atomic
  nonResourceRules []NonResourcePolicyRule 3 atomic

Subject unions=[{"discriminator":"kind","fields-to-discriminateBy":{"group":"Group","serviceAccount":"ServiceAccount","user":"User"}}]
  kind! SubjectKind 1
  user *UserSubject 2
  group *GroupSubject 3
  serviceAccount *ServiceAccountSubject 4

UserSubject
  name! string 1

GroupSubject
  name! string 1

ServiceAccountSubject
  namespace! string 1
  name! string 2

ResourcePolicyRule
  verbs! []string 1 set
  apiGroups! []string 2 set
  resources! []string 3 set
  clusterScope bool 4
  namespaces+ []string 5 set

NonResourcePolicyRule
  verbs! []string 1 set
  nonResourceURLs! []string 6 set

FlowSchemaStatus
  conditions []FlowSchemaCondition 1 map=type patch=merge key=type

FlowSchemaCondition
  type FlowSchemaConditionType 1
  status ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

PriorityLevelConfiguration
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PriorityLevelConfigurationSpec 2
  status PriorityLevelConfigurationStatus 3

PriorityLevelConfigurationSpec unions=[{"discriminator":"type","fields-to-discriminateBy":{"exempt":"Exempt","limited":"Limited"}}]
  type! PriorityLevelEnablement 1
  limited *LimitedPriorityLevelConfiguration 2
  exempt *ExemptPriorityLevelConfiguration 3

LimitedPriorityLevelConfiguration
  nominalConcurrencyShares+ *int32 1
  limitResponse LimitResponse 2
  lendablePercent *int32 3
  borrowingLimitPercent *int32 4

ExemptPriorityLevelConfiguration
  nominalConcurrencyShares *int32 1
  lendablePercent *int32 2

LimitResponse unions=[{"discriminator":"type","fields-to-discriminateBy":{"queuing":"Queuing"}}]
  type! LimitResponseType 1
  queuing *QueuingConfiguration 2

QueuingConfiguration
  queues+ int32 1
  handSize+ int32 2
  queueLengthLimit+ int32 3

PriorityLevelConfigurationStatus
  conditions []PriorityLevelConfigurationCondition 1 map=type patch=merge key=type

PriorityLevelConfigurationCondition
  type PriorityLevelConfigurationConditionType 1
  status ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5
`
