/** JSON merge patch, RFC 7386: null removes, objects are merged, everything else is replaced. */
import { eachItem, once, stepOf } from '../lib/parts.ts'
import type { Steps } from '../lib/slices.ts'
import type { JsonNode, Members } from './document.ts'
import { checkDepth } from './work.ts'

/** Changes the members in place. */
export function* mergeInto(members: Members, patch: Members): Steps<void> {
  for (const [key, value] of patch) {
    const current = members.get(key) ?? null
    if (value === null) members.delete(key)
    else if (current !== null) members.set(key, yield* merged(current, value))
    // A small patch is not divided: the generator of each step costs it a microsecond.
    else if (value.slices === undefined) members.set(key, withoutNulls(value))
    else members.set(key, yield* stepOf(() => withoutNulls(value), value.slices))
  }
}

function* merged(current: JsonNode, patch: JsonNode): Steps<JsonNode> {
  const { slices } = patch
  if (slices !== undefined) yield* current.opened()
  const members = current.members()
  if (members === undefined)
    return slices === undefined ? withoutNulls(patch) : yield* stepOf(() => withoutNulls(patch), slices)
  if (slices !== undefined) yield* patch.opened()
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
  const members = once('members', () => node.members())
  const all = members === undefined ? [] : once('all members', () => [...members])
  eachItem('members without nulls', all, nothing, (_, [key, value]) => {
    if (value === null) members?.delete(key)
    else withoutNulls(value, depth + 1)
    return true
  })
  eachItem('items without nulls', once('items', () => node.items()) ?? [], nothing, (_, item) => {
    if (item !== null) withoutNulls(item, depth + 1)
    return true
  })
  return node
}

const nothing = (): undefined => undefined
