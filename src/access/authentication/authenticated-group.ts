import {
  anonymousUser,
  authenticatedGroup,
  unauthenticatedGroup,
  type User,
} from '../../api/user.ts'

/**
 * Adds system:authenticated, unless the user already has it or system:unauthenticated, or is
 * system:anonymous by name.
 */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user
  const isSaid = groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)
  return isSaid || name === anonymousUser.name
    ? user
    : { ...user, groups: [...groups, authenticatedGroup] }
}
