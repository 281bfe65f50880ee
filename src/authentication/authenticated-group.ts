import { authenticatedGroup, unauthenticatedGroup, type User } from '../api/user.ts'

/** Adds system:authenticated, unless the user already has it or system:unauthenticated. */
export function withAuthenticatedGroup(user: User): User {
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  return isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] }
}
