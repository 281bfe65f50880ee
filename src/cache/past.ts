/**
 * How much of the past the cache keeps, over all resources: the oldest events are forgotten first, whosever they are. A
 * quiet resource loses nothing by that but speed: who resumes from before its ring is served from the database's history.
 */
import { Deque } from '../lib/deque.ts'

/** What an event takes besides the bytes of the object it replaced. */
const EVENT_BYTES = 200

export type Keeper = {
  /** Forgets the oldest event. */
  readonly forgetOldest: () => void
}

type Entry = { readonly keeper: Keeper; readonly bytes: number }

export class Past {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** One more event that holds this many bytes of an object no longer current. */
  add(keeper: Keeper, objectBytes: number): void {
    const bytes = objectBytes + EVENT_BYTES
    this.#entries.push({ keeper, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#entries.shift()
      if (oldest === undefined) break
      this.#bytes -= oldest.bytes
      oldest.keeper.forgetOldest()
    }
  }
}
