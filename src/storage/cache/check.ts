/** Compares the cached objects with the database at the same revision, key by key. */
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type { Engine, Key, Revision } from '../engine.ts'
import { keyAfter } from '../keys.ts'
import type { CachedResource } from './resource.ts'

/** Number of keys in a page. Values are not read, so a page takes about 100 KB. */
const PAGE_KEYS = 2_000

export type CheckResult =
  | { readonly outcome: 'same'; readonly keys: number; readonly revision: Revision }
  /** The cache and the database differ. `key` is the first key that differs. */
  | { readonly outcome: 'differs'; readonly key: Key; readonly revision: Revision }
  /** The resource is not loaded, so it cannot be compared. */
  | { readonly outcome: 'unknown' }

/**
 * Compares a cached resource with the database at the revision that the cache has reached. Rejects
 * with any database error, including the error for a revision that was compacted in the meantime.
 */
export async function checkResource(
  engine: Engine,
  resource: CachedResource,
  time: SlicesTime,
): Promise<CheckResult> {
  if (resource.reflector.phase !== 'live') return { outcome: 'unknown' }
  const { revision } = resource.reflector
  const tree = resource.tree.clone()
  const shown = tree.entries(resource.range.from)
  const unreadable = resource.unreadable.revisions()
  const slices = new Slices(time)
  let keys = 0
  let { from } = resource.range
  for (;;) {
    const page = await engine.range({
      from,
      to: resource.range.to,
      revision,
      limit: PAGE_KEYS,
      keysOnly: true,
    })
    for (const stored of page.values) {
      // Skip an object that is known to be unreadable. It is in the tree only if an earlier version
      // was readable.
      if (unreadable.get(stored.key) === stored.revision && tree.get(stored.key) === undefined)
        continue
      const next = shown.next()
      const item = next.done === true ? undefined : next.value[1]
      if (item?.key !== stored.key || item.revision !== stored.revision) {
        return {
          outcome: 'differs',
          key: item === undefined || stored.key < item.key ? stored.key : item.key,
          revision,
        }
      }
      keys++
      if (slices.isOver) await slices.turn()
    }
    const last = page.values.at(-1)
    if (!page.more || last === undefined) break
    from = keyAfter(last.key)
  }
  const extra = shown.next()
  if (extra.done !== true) return { outcome: 'differs', key: extra.value[0], revision }
  return { outcome: 'same', keys, revision }
}
