/**
 * Limits the cost of a patch. A client can write in a few bytes what takes long: a list that is
 * moved for each of 10,000 inserts.
 */

import type { Slices } from '../../lib/scheduling/slices.ts'

/**
 * Characters read and items moved by one patch: some 0.3 s. A legitimate patch of an object of 1.5
 * MB takes half of it.
 */
const UNITS_MAX = 20_000_000

/**
 * A patch that cannot be applied. As upstream, clients do not learn why of a patch of their own,
 * but of one that a webhook made.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError'
}

export class Work {
  /** Present if the patch or the object is large: each step is divided then. */
  readonly slices: Slices | undefined
  #left = UNITS_MAX

  constructor(slices?: Slices) {
    this.slices = slices
  }

  /** Fails with a PatchError when nothing is left. */
  spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new PatchError('the patch costs too much')
  }
}

/**
 * How deep a patched document may nest: far deeper than any kind does, and far less than would
 * overflow the stack.
 */
export const DEPTH_MAX = 1000

export function checkDepth(depth: number): void {
  if (depth >= DEPTH_MAX) throw new PatchError('the document nests too deeply')
}
