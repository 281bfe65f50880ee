/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const admissionregistrationTypes = `
package admissionregistration/v1

ScopeType = string
FailurePolicyType = string: Fail|Ignore
ParameterNotFoundActionType = string
MatchPolicyType = string: Equivalent|Exact
SideEffectClass = string: None|NoneOnDryRun|Some|Unknown
ValidationAction = string: Audit|Deny|Warn
ReinvocationPolicyType = string: IfNeeded|Never
OperationType = string: *|CONNECT|CREATE|DELETE|UPDATE

Rule
  apiGroups []string 1 atomic
  apiVersions []string 2 atomic
  resources []string 3 atomic
  scope *ScopeType 4

ValidatingAdmissionPolicy
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ValidatingAdmissionPolicySpec 2
  status ValidatingAdmissionPolicyStatus 3

ValidatingAdmissionPolicyStatus
  observedGeneration int64 1
  typeChecking *TypeChecking 2
  conditions []meta.Condition 3 map=type

TypeChecking
  expressionWarnings []ExpressionWarning 1 atomic

ExpressionWarning
  fieldRef! string 2
  warning! string 3

ValidatingAdmissionPolicySpec
  paramKind *ParamKind 1
  matchConstraints *MatchResources 2
  validations []Validation 3 atomic
  failurePolicy *FailurePolicyType 4
  auditAnnotations []AuditAnnotation 5 atomic
  matchConditions []MatchCondition 6 map=name patch=merge key=name
  variables []Variable 7 map=name patch=merge key=name

ParamKind atomic
  apiVersion string 1
  kind string 2

Validation
  expression! string 1
  message string 2
  reason *meta.StatusReason 3
  messageExpression string 4

Variable atomic
  name! string 1
  expression! string 2

AuditAnnotation
  key! string 1
  valueExpression! string 2

ValidatingAdmissionPolicyBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ValidatingAdmissionPolicyBindingSpec 2

ValidatingAdmissionPolicyBindingSpec
  policyName string 1
  paramRef *ParamRef 2
  matchResources *MatchResources 3
  validationActions []ValidationAction 4 set

ParamRef atomic
  name string 1
  namespace string 2
  selector *meta.LabelSelector 3
  parameterNotFoundAction *ParameterNotFoundActionType 4

MatchResources atomic
  namespaceSelector *meta.LabelSelector 1
  objectSelector *meta.LabelSelector 2
  resourceRules []NamedRuleWithOperations 3 atomic
  excludeResourceRules []NamedRuleWithOperations 4 atomic
  matchPolicy *MatchPolicyType 7

NamedRuleWithOperations atomic
  resourceNames []string 1 atomic
  ...RuleWithOperations 2

ValidatingWebhookConfiguration
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  webhooks []ValidatingWebhook 2 map=name patch=merge key=name

MutatingWebhookConfiguration
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  webhooks []MutatingWebhook 2 map=name patch=merge key=name

ValidatingWebhook
  name! string 1
  clientConfig! WebhookClientConfig 2
  rules []RuleWithOperations 3 atomic
  failurePolicy *FailurePolicyType 4
  matchPolicy *MatchPolicyType 9
  namespaceSelector *meta.LabelSelector 5
  objectSelector *meta.LabelSelector 10
  sideEffects! *SideEffectClass 6
  timeoutSeconds *int32 7
  admissionReviewVersions! []string 8 atomic
  matchConditions []MatchCondition 11 map=name patch=merge key=name

MutatingWebhook
  name! string 1
  clientConfig! WebhookClientConfig 2
  rules []RuleWithOperations 3 atomic
  failurePolicy *FailurePolicyType 4
  matchPolicy *MatchPolicyType 9
  namespaceSelector *meta.LabelSelector 5
  objectSelector *meta.LabelSelector 11
  sideEffects! *SideEffectClass 6
  timeoutSeconds *int32 7
  admissionReviewVersions! []string 8 atomic
  reinvocationPolicy *ReinvocationPolicyType 10
  matchConditions []MatchCondition 12 map=name patch=merge key=name

RuleWithOperations
  operations []OperationType 1 atomic
  ...Rule 2

WebhookClientConfig
  url *string 3
  service *ServiceReference 1
  caBundle []byte 2

ServiceReference
  namespace! string 1
  name! string 2
  path *string 3
  port *int32 4

MatchCondition
  name! string 1
  expression! string 2

package admissionregistration/v1alpha1

ParameterNotFoundActionType = string: Allow|Deny
FailurePolicyType = string: Fail|Ignore
MatchPolicyType = string: Equivalent|Exact
PatchType = string: ApplyConfiguration|JSONPatch

ParamKind atomic
  apiVersion string 1
  kind string 2

Variable
  name! string 1
  expression! string 2

ParamRef atomic
  name string 1
  namespace string 2
  selector *meta.LabelSelector 3
  parameterNotFoundAction *ParameterNotFoundActionType 4

MatchResources atomic
  namespaceSelector *meta.LabelSelector 1
  objectSelector *meta.LabelSelector 2
  resourceRules []NamedRuleWithOperations 3 atomic
  excludeResourceRules []NamedRuleWithOperations 4 atomic
  matchPolicy *MatchPolicyType 7

NamedRuleWithOperations atomic
  resourceNames []string 1 atomic
  ...RuleWithOperations 2

MutatingAdmissionPolicy
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec MutatingAdmissionPolicySpec 2

MutatingAdmissionPolicySpec
  paramKind *ParamKind 1
  matchConstraints *MatchResources 2
  variables []Variable 3 atomic
  mutations []Mutation 4 atomic
  failurePolicy *FailurePolicyType 5
  matchConditions []MatchCondition 6 map=name patch=merge key=name
  reinvocationPolicy ReinvocationPolicyType 7

Mutation
  patchType! PatchType 2
  applyConfiguration *ApplyConfiguration 3
  jsonPatch *JSONPatch 4

ApplyConfiguration
  expression string 1

JSONPatch
  expression string 1

MutatingAdmissionPolicyBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec MutatingAdmissionPolicyBindingSpec 2

MutatingAdmissionPolicyBindingSpec
  policyName string 1
  paramRef *ParamRef 2
  matchResources *MatchResources 3

package admissionregistration/v1beta1

ParameterNotFoundActionType = string
FailurePolicyType = string
MatchPolicyType = string
ValidationAction = string: Audit|Deny|Warn

ValidatingAdmissionPolicy
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ValidatingAdmissionPolicySpec 2
  status ValidatingAdmissionPolicyStatus 3

ValidatingAdmissionPolicyStatus
  observedGeneration int64 1
  typeChecking *TypeChecking 2
  conditions []meta.Condition 3 map=type

TypeChecking
  expressionWarnings []ExpressionWarning 1 atomic

ExpressionWarning
  fieldRef! string 2
  warning! string 3

ValidatingAdmissionPolicySpec
  paramKind *ParamKind 1
  matchConstraints *MatchResources 2
  validations []Validation 3 atomic
  failurePolicy *FailurePolicyType 4
  auditAnnotations []AuditAnnotation 5 atomic
  matchConditions []MatchCondition 6 map=name patch=merge key=name
  variables []Variable 7 map=name patch=merge key=name

ParamKind atomic
  apiVersion string 1
  kind string 2

Validation
  expression! string 1
  message string 2
  reason *meta.StatusReason 3
  messageExpression string 4

Variable atomic
  name! string 1
  expression! string 2

AuditAnnotation
  key! string 1
  valueExpression! string 2

ValidatingAdmissionPolicyBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ValidatingAdmissionPolicyBindingSpec 2

ValidatingAdmissionPolicyBindingSpec
  policyName string 1
  paramRef *ParamRef 2
  matchResources *MatchResources 3
  validationActions []ValidationAction 4 set

ParamRef atomic
  name string 1
  namespace string 2
  selector *meta.LabelSelector 3
  parameterNotFoundAction *ParameterNotFoundActionType 4

MatchResources atomic
  namespaceSelector *meta.LabelSelector 1
  objectSelector *meta.LabelSelector 2
  resourceRules []NamedRuleWithOperations 3 atomic
  excludeResourceRules []NamedRuleWithOperations 4 atomic
  matchPolicy *MatchPolicyType 7

NamedRuleWithOperations atomic
  resourceNames []string 1 atomic
  ...RuleWithOperations 2

MatchCondition
  name! string 1
  expression! string 2
`
