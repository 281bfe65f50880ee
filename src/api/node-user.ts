/**
 * Which node a user is. Kubelets authenticate as `system:node:<name>` and as members of
 * system:nodes.
 */
import type { User } from './user.ts'

const prefix = 'system:node:'
const nodesGroup = 'system:nodes'

/**
 * The name of the node, which may be empty; undefined: the user is no node. Both the name and the
 * group are needed.
 */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(prefix) && groups.includes(nodesGroup)
    ? name.slice(prefix.length)
    : undefined
}
