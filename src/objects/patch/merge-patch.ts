/** JSON merge patch, RFC 7386: null removes, objects are merged, everything else is replaced. */
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { JsonNode, Members, Value } from './document.ts'
import { checkDepth } from './work.ts'

/** Members that are merged between two steps. */
const STEP_MEMBERS = 256

/** Changes the members in place. */
export function* mergeInto(members: Members, patch: Members): Steps<void> {
  let merges = 0
  for (const [key, value] of patch) {
    if (++merges % STEP_MEMBERS === 0) yield undefined
    const current = members.get(key) ?? null
    if (value === null) members.delete(key)
    else if (current !== null) members.set(key, yield* merged(current, value))
    // Most values are scalars: a generator costs a microsecond.
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
 * If there is nothing to remove, null means absent; in a list it is kept, since the items after it
 * keep their places. A patch of some KB may be nested so deeply that this takes long: each value is
 * read again as a part of all that contain it.
 */
function* withoutNulls(root: JsonNode): Steps<JsonNode> {
  /** The values of the objects and lists that are being visited. */
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

/** Without the members that are null. */
function valuesOf(node: JsonNode): Iterator<Value> {
  const members = node.members()
  if (members === undefined) return (node.items() ?? []).values()
  for (const [key, value] of members) if (value === null) members.delete(key)
  return members.values()
}
