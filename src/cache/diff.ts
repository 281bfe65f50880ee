/** What must have happened between two states of a resource, told as events, when the events themselves are lost. */
import { Slices } from '../lib/slices.ts'
import type { Revision } from '../storage/engine.ts'
import { Change } from './event.ts'
import type { Tree } from './tree.ts'

/**
 * In the order of their revisions. When an object was deleted is not known, so it is told at `revision`, that of the new
 * state; an object that was created again is told as deleted just before that, since two objects are never one.
 */
export async function changesBetween(before: Tree, after: Tree, revision: Revision): Promise<Change[]> {
  const changes: Change[] = []
  const slices = new Slices()
  for (const [key, item] of after.entries()) {
    const previous = before.get(key)
    if (previous !== undefined && previous.createRevision !== item.createRevision) {
      changes.push(new Change({ key, revision: item.createRevision - 1, item: undefined, previous }))
      changes.push(new Change({ key, revision: item.revision, item, previous: undefined }))
    } else if (previous?.revision !== item.revision) {
      changes.push(new Change({ key, revision: item.revision, item, previous }))
    }
    if (slices.isOver) await slices.turn()
  }
  for (const [key, previous] of before.entries()) {
    if (!after.has(key)) changes.push(new Change({ key, revision, item: undefined, previous }))
    if (slices.isOver) await slices.turn()
  }
  return changes.sort((a, b) => a.revision - b.revision)
}
