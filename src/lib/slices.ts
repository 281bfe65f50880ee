/**
 * Cuts long work into slices, so that it never holds the event loop for more than a few milliseconds: ten long lists at once
 * take ten slices in a row.
 */
const SLICE_MS = 1

export class Slices {
  #since = performance.now()

  /** Call often; it is cheap. True when others should get a turn: then await `turn()`. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS
  }

  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#since = performance.now()
  }
}
