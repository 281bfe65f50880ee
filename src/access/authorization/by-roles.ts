/** The RBAC authorizer, as a member of the authorizer chain. */
import { inSlices, Slices } from '../../lib/scheduling/slices.ts'
import { authorizeByRoles } from '../rbac/authorizer.ts'
import { explainByRoles } from '../rbac/explain.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import type { Authorizer } from './authorizer.ts'
import { rightsByRoles } from './rights-by-roles.ts'

export const createRoleAuthorizer = (index: RoleIndex): Authorizer => ({
  authorize: (user, attributes) => authorizeByRoles(index, user, attributes),
  rightsOf: (user, namespace, { signal, reserve }) =>
    inSlices(rightsByRoles({ index, user, namespace, reserve }), new Slices(), signal),
  explain: (user, attributes, waiting) =>
    inSlices(explainByRoles(index, user, attributes), new Slices(), waiting?.signal),
})
