/** The types of audit policies. objects/schema/read-types.ts describes the syntax. */
export const auditTypes = `
package audit/v1

Level = string
Stage = string

Policy
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  rules! []PolicyRule 2
  omitStages []Stage 3
  omitManagedFields bool 4

PolicyRule
  level! Level 1
  users []string 2
  userGroups []string 3
  verbs []string 4
  resources []GroupResources 5
  namespaces []string 6
  nonResourceURLs []string 7
  omitStages []Stage 8
  omitManagedFields *bool 9

GroupResources
  group string 1
  resources []string 2
  resourceNames []string 3
`
