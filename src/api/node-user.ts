/**
 * Determines which node a user is. Kubelets authenticate as `system:node:<name>` and as members of
 * system:nodes.
 */
import type { User } from './user.ts'

const prefix = 'system:node:'
const nodesGroup = 'system:nodes'

/**
 * Returns the name of the node, which may be empty, or undefined if the user is not a node. Both
 * the user name and the group are required.
 */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(prefix) && groups.includes(nodesGroup)
    ? name.slice(prefix.length)
    : undefined
}
