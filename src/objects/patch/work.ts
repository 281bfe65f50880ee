/**
 * Limits the cost of a patch. A few bytes from a client can cause a lot of work, such as 10,000
 * inserts that each shift a long list.
 */

import type { Slices } from '../../lib/scheduling/slices.ts'

/**
 * Maximum number of characters read and items moved for one patch, which takes about 0.3 s. A
 * legitimate patch of an object of 1.5 MB needs half of it.
 */
const UNITS_MAX = 20_000_000

/**
 * A patch cannot be applied. As in kube-apiserver, the reason is reported for patches that webhooks
 * return, but not to clients that send a patch.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError'
}

export class Work {
  /** Present if the patch or the object is large. Each step is then divided into slices. */
  readonly slices: Slices | undefined
  #left = UNITS_MAX

  constructor(slices?: Slices) {
    this.slices = slices
  }

  /** Throws a PatchError once the budget is exhausted. */
  spend(units: number): void {
    this.#left -= units
    if (this.#left < 0)
      throw new PatchError(
        'the patch is too expensive to apply; use fewer operations or smaller values',
      )
  }
}

/**
 * Maximum depth of a patched document. No kind nests nearly as deeply, and a document of this depth
 * does not overflow the stack.
 */
export const DEPTH_MAX = 1000

export function checkDepth(depth: number): void {
  if (depth >= DEPTH_MAX)
    throw new PatchError(`the document is nested more than ${DEPTH_MAX} levels deep`)
}
