/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
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
