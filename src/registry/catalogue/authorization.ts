/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const authorizationTypes = `
package authorization/v1

ExtraValue = wrapped []string

SubjectAccessReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SubjectAccessReviewSpec 2
  status SubjectAccessReviewStatus 3

SelfSubjectAccessReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SelfSubjectAccessReviewSpec 2
  status SubjectAccessReviewStatus 3

LocalSubjectAccessReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SubjectAccessReviewSpec 2
  status SubjectAccessReviewStatus 3

ResourceAttributes
  namespace string 1
  verb string 2
  group string 3
  version string 4
  resource string 5
  subresource string 6
  name string 7
  fieldSelector *FieldSelectorAttributes 8
  labelSelector *LabelSelectorAttributes 9

LabelSelectorAttributes
  rawSelector string 1
  requirements []meta.LabelSelectorRequirement 2 atomic

FieldSelectorAttributes
  rawSelector string 1
  requirements []meta.FieldSelectorRequirement 2 atomic

NonResourceAttributes
  path string 1
  verb string 2

SubjectAccessReviewSpec
  resourceAttributes *ResourceAttributes 1
  nonResourceAttributes *NonResourceAttributes 2
  user string 3
  groups []string 4 atomic
  extra map[string]ExtraValue 5
  uid string 6

SelfSubjectAccessReviewSpec
  resourceAttributes *ResourceAttributes 1
  nonResourceAttributes *NonResourceAttributes 2

SubjectAccessReviewStatus
  allowed! bool 1
  denied bool 4
  reason string 2
  evaluationError string 3

SelfSubjectRulesReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SelfSubjectRulesReviewSpec 2
  status SubjectRulesReviewStatus 3

SelfSubjectRulesReviewSpec
  namespace string 1

SubjectRulesReviewStatus
  resourceRules! []ResourceRule 1 atomic
  nonResourceRules! []NonResourceRule 2 atomic
  incomplete! bool 3
  evaluationError string 4

ResourceRule
  verbs! []string 1 atomic
  apiGroups []string 2 atomic
  resources []string 3 atomic
  resourceNames []string 4 atomic

NonResourceRule
  verbs! []string 1 atomic
  nonResourceURLs []string 2 atomic
`
