/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const rbacTypes = `
package rbac/v1

PolicyRule
  verbs! []string 1 atomic
  apiGroups []string 2 atomic
  resources []string 3 atomic
  resourceNames []string 4 atomic
  nonResourceURLs []string 5 atomic

Subject atomic
  kind! string 1
  apiGroup string 2
  name! string 3
  namespace string 4

RoleRef atomic
  apiGroup! string 1
  kind! string 2
  name! string 3

Role
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  rules+ []PolicyRule 2 atomic

RoleBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  subjects []Subject 2 atomic
  roleRef! RoleRef 3

ClusterRole
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  rules+ []PolicyRule 2 atomic
  aggregationRule *AggregationRule 3

AggregationRule
  clusterRoleSelectors []meta.LabelSelector 1 atomic

ClusterRoleBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  subjects []Subject 2 atomic
  roleRef! RoleRef 3
`
