/** The RBAC authorizer, as a member of the authorizer chain. */
import { present } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'
import { inSlices } from '../../lib/scheduling/slices.ts'
import { authorizeByRoles, heldRules, ResolutionErrors } from '../rbac/authorizer.ts'
import { explainByRoles } from '../rbac/explain.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import type { Rule } from '../rbac/rule.ts'
import type { Authorizer, Rights } from './authorizer.ts'

/**
 * Maximum number of rules that are collected for a user. A response with a longer list would exceed
 * the maximum size of an object.
 */
const RULES_MAX = 100_000

export const createRoleAuthorizer = (index: RoleIndex): Authorizer => ({
  authorize: (user, attributes) => authorizeByRoles(index, user, attributes),
  rightsOf: (user, namespace) => rightsByRoles(index, user, namespace),
  explain: (user, attributes) => inSlices(explainByRoles(index, user, attributes)),
})

function rightsByRoles(index: RoleIndex, user: User, namespace: string): Rights {
  const missing = new ResolutionErrors()
  const rules: Rule[] = []
  let isComplete = true
  for (const list of heldRules(index, user, { namespace, each: 'binding', errors: missing })) {
    isComplete = rules.length + list.length <= RULES_MAX
    if (!isComplete) break
    addAll(rules, list)
  }
  const errors = [
    missing.text(),
    isComplete ? '' : 'the user has too many rules to list all of them',
  ].filter(Boolean)
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) =>
        present({
          verbs,
          apiGroups: orNone(apiGroups),
          resources,
          resourceNames: orNone(resourceNames),
        }),
      ),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: !isComplete,
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

const orNone = (list: readonly string[]): readonly string[] | undefined =>
  list.length === 0 ? undefined : list
