/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { clusterRoleRules, roleRules } from './role.ts'
import { clusterRoleBindingRules, roleBindingRules } from './role-binding.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['ClusterRole.rbac.authorization.k8s.io', clusterRoleRules],
  ['ClusterRoleBinding.rbac.authorization.k8s.io', clusterRoleBindingRules],
  ['Role.rbac.authorization.k8s.io', roleRules],
  ['RoleBinding.rbac.authorization.k8s.io', roleBindingRules],
]
