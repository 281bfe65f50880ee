/** JSON merge patch, RFC 7386: null removes, objects are merged, everything else is replaced. */
import type { Steps } from '../lib/slices.ts'
import type { JsonNode, Members } from './document.ts'
import { checkDepth } from './work.ts'

/** Changes the members in place. */
export function* mergeInto(members: Members, patch: Members): Steps<void> {
  for (const [key, value] of patch) {
    const current = members.get(key) ?? null
    if (value === null) members.delete(key)
    else if (current === null) members.set(key, withoutNulls(value))
    else members.set(key, yield* merged(current, value))
  }
}

function* merged(current: JsonNode, patch: JsonNode): Steps<JsonNode> {
  const members = current.members()
  if (members === undefined) return withoutNulls(patch)
  const own = patch.members()
  if (own === undefined) return patch
  yield undefined
  yield* mergeInto(members, own)
  return current
}

/** If there is nothing to remove, null means absent; in a list it is kept, since the items after it keep their places. */
function withoutNulls(node: JsonNode, depth = 0): JsonNode {
  checkDepth(depth)
  if (node.isPlainList) return node
  const members = node.members()
  for (const [key, value] of members ?? []) {
    if (value === null) members?.delete(key)
    else withoutNulls(value, depth + 1)
  }
  for (const item of node.items() ?? []) if (item !== null) withoutNulls(item, depth + 1)
  return node
}
