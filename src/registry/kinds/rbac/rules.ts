/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
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
