/**
 * Snapshots of a resource in the recent past, within one event ring, because positions in other
 * event rings are meaningless here. The state at a revision is created from the nearest later
 * snapshot by undoing the events in between. The new snapshot is also stored, because the next page
 * of the same list will request it again.
 */
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import type { Revision } from '../engine.ts'
import type { Ring } from './ring.ts'
import type { Counts, KeySet, Tree } from './tree.ts'

/**
 * Maximum number of snapshots. Each paginated list in progress uses one, at its own revision. If
 * there are more such lists, each page has to undo the events again. A snapshot takes up to 16
 * bytes per object, if all objects have changed since.
 */
const SNAPSHOTS_MAX = 32

/** The state after all events of the event ring before `position`. Its tree never changes. */
export type Snapshot = {
  readonly ring: Ring
  readonly position: number
  readonly tree: Tree
  readonly counts?: Counts
  /**
   * The keys that indexes found in this state, by query. They allow later pages to be read without
   * a scan.
   */
  readonly found?: Map<string, KeySet>
}

/** A stored snapshot. A higher `use` means that the snapshot was requested more recently. */
type KeptSnapshot = { readonly snapshot: Snapshot; use: number }

export class Snapshots {
  readonly #ring: Ring
  readonly #time: SlicesTime
  /** The stored snapshots, sorted by their position in the event ring. */
  readonly #snapshots: KeptSnapshot[] = []
  #uses = 0

  constructor(ring: Ring, time: SlicesTime = systemTime) {
    this.#ring = ring
    this.#time = time
  }

  /**
   * Stores a snapshot. Ignores snapshots from before the resource was listed again, because their
   * positions belong to another event ring.
   */
  keep(snapshot: Snapshot): void {
    if (snapshot.ring !== this.#ring || snapshot.position < this.#ring.first) return
    if (this.#snapshots.some((kept) => kept.snapshot.position === snapshot.position)) return
    if (this.#snapshots.length === SNAPSHOTS_MAX) this.#forgetLeastUsed()
    this.#snapshots.push({ snapshot, use: ++this.#uses })
    this.#snapshots.sort((a, b) => a.snapshot.position - b.snapshot.position)
  }

  forgetBefore(position: number): void {
    while ((this.#snapshots[0]?.snapshot.position ?? position) < position) this.#snapshots.shift()
  }

  /** Returns the state at a revision, or undefined if the event ring does not reach back to it. */
  async at(revision: Revision, current: () => Snapshot): Promise<Snapshot | undefined> {
    const ring = this.#ring
    if (!ring.reachesBackTo(revision)) return undefined
    const position = ring.positionAfter(revision)
    if (position === ring.end) return current()
    const kept = this.#snapshots.find(({ snapshot }) => snapshot.position >= position)
    if (kept !== undefined) kept.use = ++this.#uses
    const nearest = kept?.snapshot
    if (nearest?.position === position) return nearest
    const tree = (nearest ?? current()).tree.clone()
    const way = { from: nearest?.position ?? ring.end, to: position, ring }
    if (!(await takeBack(tree, way, this.#time))) return undefined
    const snapshot = { ring, position, tree }
    this.keep(snapshot)
    return snapshot
  }

  #forgetLeastUsed(): void {
    // Bounded: there are at most SNAPSHOTS_MAX snapshots, so they can be passed as arguments
    const least = Math.min(...this.#snapshots.map(({ use }) => use))
    this.#snapshots.splice(
      this.#snapshots.findIndex(({ use }) => use === least),
      1,
    )
  }
}

/**
 * Undoes the events between two positions. Returns false if the event ring has evicted one of them
 * in the meantime.
 */
async function takeBack(
  tree: Tree,
  { from, to, ring }: { readonly from: number; readonly to: number; readonly ring: Ring },
  time: SlicesTime,
): Promise<boolean> {
  const slices = new Slices(time)
  for (let position = from - 1; position >= to; position--) {
    const change = ring.at(position)
    if (change === undefined) return false
    if (change.previous === undefined) tree.delete(change.key)
    else tree.set(change.key, change.previous)
    if (slices.isOver) await slices.turn()
  }
  return to >= ring.first
}
