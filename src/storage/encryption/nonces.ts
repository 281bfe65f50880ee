/**
 * Random bytes for nonces and other values that are stored in the open. They are drawn in blocks: a call for each nonce would take as
 * long as the encryption of a small object. Keys do not come from here, since they must not lie around in a block.
 */
import { randomFillSync } from 'node:crypto'

const BLOCK_BYTES = 8 << 10

export class Nonces {
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  #at = BLOCK_BYTES
  /** By length: a view for each nonce would be garbage for each value. */
  readonly #next: Buffer[] = []

  /** `bytes` random bytes, at most a block. Borrowed: the next call writes others there. */
  next(bytes: number): Buffer {
    if (this.#at + bytes > BLOCK_BYTES) {
      randomFillSync(this.#block)
      this.#at = 0
    }
    const next = (this.#next[bytes] ??= Buffer.allocUnsafeSlow(bytes))
    this.#block.copy(next, 0, this.#at, this.#at + bytes)
    this.#at += bytes
    return next
  }
}
