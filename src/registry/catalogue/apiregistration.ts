/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const apiregistrationTypes = `
package apiregistration/v1

ConditionStatus = string
APIServiceConditionType = string

ServiceReference
  namespace string 1
  name string 2
  port *int32 3

APIServiceSpec
  service *ServiceReference 1
  group string 2
  version string 3
  insecureSkipTLSVerify bool 4
  caBundle []byte 5 atomic
  groupPriorityMinimum! int32 7
  versionPriority! int32 8

APIServiceCondition
  type! APIServiceConditionType 1
  status! ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

APIServiceStatus
  conditions []APIServiceCondition 1 map=type patch=merge key=type

APIService
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec APIServiceSpec 2
  status APIServiceStatus 3
`
