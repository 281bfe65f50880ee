/**
 * States of the recent past of one ring: positions of another say nothing here. The state at a revision is the nearest later one that is kept, taken back event by event through
 * the ring; it is then kept too, since the next page of the same list will ask for it again.
 */
import { Slices } from '../lib/slices.ts'
import type { Revision } from '../storage/engine.ts'
import type { Ring } from './ring.ts'
import type { Counts, Tree } from './tree.ts'

/** Lists that are being paged through at the same time, each at a revision of its own. */
const VERSIONS_MAX = 16

/** The state when the ring ended at this position. Its tree does not change any more. */
export type Version = {
  readonly ring: Ring
  readonly position: number
  readonly tree: Tree
  readonly counts?: Counts
}

export class Versions {
  readonly #ring: Ring
  readonly #versions: Version[] = []

  constructor(ring: Ring) {
    this.#ring = ring
  }

  /** What was taken before the resource listed itself again has no place in the events since. */
  keep(version: Version): void {
    if (version.ring !== this.#ring || version.position < this.#ring.first) return
    if (this.#versions.some(({ position }) => position === version.position)) return
    this.#versions.push(version)
    this.#versions.sort((a, b) => a.position - b.position)
    if (this.#versions.length > VERSIONS_MAX) this.#versions.shift()
  }

  forgetBefore(position: number): void {
    while ((this.#versions[0]?.position ?? position) < position) this.#versions.shift()
  }

  /** Undefined if the ring does not reach back to this revision. */
  async at(revision: Revision, current: () => Tree): Promise<Tree | undefined> {
    const ring = this.#ring
    if (!ring.reachesBackTo(revision)) return undefined
    const position = ring.positionAfter(revision)
    if (position === ring.end) return current()
    const nearest = this.#versions.find((version) => version.position >= position)
    if (nearest?.position === position) return nearest.tree
    const tree = (nearest?.tree ?? current()).clone()
    if (!(await takeBack(tree, { from: nearest?.position ?? ring.end, to: position, ring }))) return undefined
    this.keep({ ring, position, tree })
    return tree
  }
}

/** False if the ring forgot an event meanwhile. */
async function takeBack(
  tree: Tree,
  { from, to, ring }: { readonly from: number; readonly to: number; readonly ring: Ring },
): Promise<boolean> {
  const slices = new Slices()
  for (let position = from - 1; position >= to; position--) {
    const change = ring.at(position)
    if (change === undefined) return false
    if (change.previous === undefined) tree.delete(change.key)
    else tree.set(change.key, change.previous)
    if (slices.isOver) await slices.turn()
  }
  return to >= ring.first
}
