/**
 * States of the recent past of one ring: positions of another say nothing here. The state at a revision is the nearest later
 * one that is kept, taken back event by event through the ring; it is then kept too, since the next page of the same list
 * will ask for it again.
 */
import { Slices, type SlicesTime } from '../lib/slices.ts'
import { systemTime } from '../lib/timers.ts'
import type { Revision } from '../storage/engine.ts'
import type { Ring } from './ring.ts'
import type { Counts, KeySet, Tree } from './tree.ts'

/**
 * Lists that are being paged through at the same time, each at a revision of its own. With more, a page takes the time to go
 * back through the events since; the state of a resource where everything has changed takes 16 bytes an object.
 */
const VERSIONS_MAX = 32

/** The state when the ring ended at this position. Its tree does not change any more. */
export type Version = {
  readonly ring: Ring
  readonly position: number
  readonly tree: Tree
  readonly counts?: Counts
  /** What an index has led to in this state, by what was asked: the next pages need not scan. */
  readonly found?: Map<string, KeySet>
}

/** `use`: the higher, the later it was asked for. */
type Kept = { readonly version: Version; use: number }

export class Versions {
  readonly #ring: Ring
  readonly #time: SlicesTime
  /** In the order of their positions. */
  readonly #versions: Kept[] = []
  #uses = 0

  constructor(ring: Ring, time: SlicesTime = systemTime) {
    this.#ring = ring
    this.#time = time
  }

  /** What was taken before the resource listed itself again has no place in the events since. */
  keep(version: Version): void {
    if (version.ring !== this.#ring || version.position < this.#ring.first) return
    if (this.#versions.some((kept) => kept.version.position === version.position)) return
    if (this.#versions.length === VERSIONS_MAX) this.#forgetLeastUsed()
    this.#versions.push({ version, use: ++this.#uses })
    this.#versions.sort((a, b) => a.version.position - b.version.position)
  }

  forgetBefore(position: number): void {
    while ((this.#versions[0]?.version.position ?? position) < position) this.#versions.shift()
  }

  /** Undefined if the ring does not reach back to this revision. */
  async at(revision: Revision, current: () => Version): Promise<Version | undefined> {
    const ring = this.#ring
    if (!ring.reachesBackTo(revision)) return undefined
    const position = ring.positionAfter(revision)
    if (position === ring.end) return current()
    const kept = this.#versions.find(({ version }) => version.position >= position)
    if (kept !== undefined) kept.use = ++this.#uses
    const nearest = kept?.version
    if (nearest?.position === position) return nearest
    const tree = (nearest ?? current()).tree.clone()
    const way = { from: nearest?.position ?? ring.end, to: position, ring }
    if (!(await takeBack(tree, way, this.#time))) return undefined
    const version = { ring, position, tree }
    this.keep(version)
    return version
  }

  #forgetLeastUsed(): void {
    const least = Math.min(...this.#versions.map(({ use }) => use))
    this.#versions.splice(
      this.#versions.findIndex(({ use }) => use === least),
      1,
    )
  }
}

/** False if the ring forgot an event meanwhile. */
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
