/**
 * Applies a JSON merge patch (RFC 7386): null removes a member, objects are merged, and any other
 * value replaces the current one.
 */
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { JsonNode, Members, Value } from './document.ts'
import { checkDepth } from './work.ts'

/** Number of members that are merged in one step. */
const STEP_MEMBERS = 256

/** Merges a patch into `members`. The members are modified. */
export function* mergeInto(members: Members, patch: Members): Steps<void> {
  let merges = 0
  for (const [key, value] of patch) {
    if (++merges % STEP_MEMBERS === 0) yield undefined
    const current = members.get(key) ?? null
    if (value === null) members.delete(key)
    else if (current !== null) members.set(key, yield* merged(current, value))
    // Most values are scalars. Creating a generator for each of them would take too long.
    else members.set(key, value.isNested ? yield* withoutNulls(value) : value)
  }
}

function* merged(current: JsonNode, patch: JsonNode): Steps<JsonNode> {
  const { slices } = patch
  if (slices !== undefined) yield* current.opened()
  const members = current.members()
  if (members === undefined) return yield* withoutNulls(patch)
  if (slices !== undefined) yield* patch.opened()
  const own = patch.members()
  if (own === undefined) return patch
  yield undefined
  yield* mergeInto(members, own)
  return current
}

/**
 * Removes null members from a value that the patch adds, because they only serve to remove existing
 * members. Nulls in lists are kept, so that other items keep their indexes. Each value is read
 * again for each object or list around it. So a deeply nested patch of a few kilobytes can take a
 * long time.
 */
function* withoutNulls(root: JsonNode): Steps<JsonNode> {
  /**
   * For each object or list that is being visited, the values that were not visited yet. The
   * outermost one comes first.
   */
  const open: Iterator<Value>[] = [[root].values()]
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { value, done } = last.next()
    if (done === true) open.pop()
    else if (value !== null) {
      checkDepth(open.length - 1)
      if (!value.isNested || value.isPlainList) continue
      yield* value.opened()
      open.push(valuesOf(value))
      yield undefined
    }
  }
  return root
}

/**
 * Removes the null members of an object, and returns its other values. For a list, returns the
 * items.
 */
function valuesOf(node: JsonNode): Iterator<Value> {
  const members = node.members()
  if (members === undefined) return (node.items() ?? []).values()
  for (const [key, value] of members) if (value === null) members.delete(key)
  return members.values()
}
