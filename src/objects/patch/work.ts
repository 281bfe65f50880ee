/**
 * Limits the cost of a patch. A few bytes from a client can cause much work. For example, each of
 * 10,000 inserts can shift a long list.
 */

import type { Slices } from '../../lib/scheduling/slices.ts'

/**
 * Maximum number of characters read and items moved for one patch. This takes about 0.3 s. A
 * legitimate patch of a 1.5 MB object needs half of this.
 */
const UNITS_MAX = 20_000_000

/**
 * Thrown if a patch cannot be applied. As in kube-apiserver, the reason is reported for a patch
 * that a webhook returned, but not for a patch that a client sent.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError'
}

export class Work {
  /** Time slices for the steps of the work. Undefined if the patch and the object are small. */
  readonly slices: Slices | undefined
  #left = UNITS_MAX

  constructor(slices?: Slices) {
    this.slices = slices
  }

  /** Throws a PatchError when the budget is exhausted. */
  spend(units: number): void {
    this.#left -= units
    if (this.#left < 0)
      throw new PatchError(
        'the patch is too expensive to apply; use fewer operations or smaller values',
      )
  }
}

/**
 * Maximum depth of a patched document. Objects of all kinds are far less deep, and a document of
 * this depth does not overflow the stack.
 */
export const DEPTH_MAX = 1000

export function checkDepth(depth: number): void {
  if (depth >= DEPTH_MAX)
    throw new PatchError(`the document is nested more than ${DEPTH_MAX} levels deep`)
}
