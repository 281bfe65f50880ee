/**
 * Joins the fragments of a watch response. etcd can split a response between any two events, so the
 * events of one revision may be in several fragments. They must be delivered together.
 */
import type { EtcdEvent } from './codec/watch.ts'
import { GrpcError } from '../../net/grpc/errors.ts'

/**
 * Maximum size of the events that are buffered until the response is complete. A watch that catches
 * up gets up to 1,000 revisions in one response, so a response can be larger. Its complete
 * revisions are then delivered early. A single revision cannot be larger, because etcd rejects such
 * requests.
 */
const HELD_BYTES_MAX = 64 * 1024 * 1024

export class Fragments {
  readonly #bytesMax: number
  #held: EtcdEvent[] = []
  #bytes = 0

  constructor(bytesMax = HELD_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /**
   * Adds the events of a response. `bytes` is its size. Returns the events that can be delivered
   * now, if any.
   */
  add(
    answer: { readonly fragment: boolean; readonly events: readonly EtcdEvent[] },
    bytes: number,
  ): readonly EtcdEvent[] | undefined {
    if (!answer.fragment && this.#held.length === 0) return answer.events
    for (const event of answer.events) this.#held.push(event)
    this.#bytes += bytes
    if (!answer.fragment) return this.#take(this.#held.length)
    return this.#bytes > this.#bytesMax ? this.#take(completeCount(this.#held)) : undefined
  }

  #take(count: number): readonly EtcdEvent[] {
    if (count <= 0) {
      throw new GrpcError(
        'ResourceExhausted',
        `the events of one revision are longer than ${this.#bytesMax} bytes`,
        { isTooLarge: true },
      )
    }
    const taken = this.#held
    this.#held = taken.splice(count)
    this.#bytes = 0
    return taken
  }
}

/** Returns the number of events that belong to revisions which are certainly complete. */
function completeCount(events: readonly EtcdEvent[]): number {
  const last = events.at(-1)?.kv.modRevision
  return events.findIndex((event) => event.kv.modRevision === last)
}
