/**
 * Random bytes for nonces and other values that are stored in the open. They are drawn in blocks: a call for each nonce would take as
 * long as the encryption of a small object. Keys do not come from here, since they must not lie around in a block.
 */
import { randomFillSync } from 'node:crypto'

const BLOCK_BYTES = 8 << 10

export class Nonces {
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  #at = BLOCK_BYTES

  /** Writes `bytes` random bytes, at most a block. */
  fill(target: Buffer, at: number, bytes: number): void {
    if (this.#at + bytes > BLOCK_BYTES) {
      randomFillSync(this.#block)
      this.#at = 0
    }
    this.#block.copy(target, at, this.#at, this.#at + bytes)
    this.#at += bytes
  }
}
