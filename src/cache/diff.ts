/** What must have happened between two states of a resource, told as events, when the events themselves are lost. */
import { Slices } from '../lib/slices.ts'
import type { Revision } from '../storage/engine.ts'
import { Change } from './event.ts'
import type { Tree } from './tree.ts'

/**
 * In the order of their revisions. When an object was deleted is not known; deletions are told first, just after `known`, the
 * revision of the old state. Then a client that is cut off in the middle and resumes at the last revision it was told has
 * missed no deletion, and everything it has not been told yet is newer than that revision. An object that was created again
 * is told as deleted first, since two objects are never one.
 */
export async function changesBetween(before: Tree, after: Tree, known: Revision): Promise<Change[]> {
  const deletions: Change[] = []
  const changes: Change[] = []
  const slices = new Slices()
  for (const [key, previous] of before.entries()) {
    if (after.get(key)?.createRevision !== previous.createRevision) {
      deletions.push(new Change({ key, revision: known + 1, item: undefined, previous }))
    }
    if (slices.isOver) await slices.turn()
  }
  for (const [key, item] of after.entries()) {
    const old = before.get(key)
    const previous = old?.createRevision === item.createRevision ? old : undefined
    if (previous?.revision !== item.revision) changes.push(new Change({ key, revision: item.revision, item, previous }))
    if (slices.isOver) await slices.turn()
  }
  return [...deletions, ...changes.sort((a, b) => a.revision - b.revision)]
}
