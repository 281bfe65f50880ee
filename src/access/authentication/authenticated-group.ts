import {
  anonymousUser,
  authenticatedGroup,
  unauthenticatedGroup,
  type User,
} from '../../api/user.ts'

/**
 * Adds the system:authenticated group. A user that has this group or system:unauthenticated, or
 * whose name is system:anonymous, is returned unchanged.
 */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user
  const isSaid = groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)
  return isSaid || name === anonymousUser.name
    ? user
    : { ...user, groups: [...groups, authenticatedGroup] }
}
