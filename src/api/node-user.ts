/**
 * Determines which node a user represents. Kubelets authenticate as `system:node:<name>` and as
 * members of system:nodes.
 */
import type { User } from './user.ts'

const prefix = 'system:node:'
const nodesGroup = 'system:nodes'

/**
 * Returns the name of the node, which can be empty, or undefined if the user is not a node. A node
 * needs both the user name and the group.
 */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(prefix) && groups.includes(nodesGroup)
    ? name.slice(prefix.length)
    : undefined
}
