/**
 * Versions that this process has written and therefore already encoded. The event feed delivers
 * each of them once, and the cache then does not have to decode it.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Wire } from '../../objects/codec/object.ts'
import type { Key, Revision } from '../engine.ts'

/**
 * Limits for the retained versions. The event feed usually delivers a version within milliseconds.
 * A version that is dropped before the event feed delivers it is decoded like any other.
 */
const WRITES_MAX = 256
const BYTES_MAX = 4 << 20

export type OwnWrite = {
  readonly key: Key
  readonly revision: Revision
  readonly object: KubeObject
  readonly wire: Wire
}

export class OwnWrites {
  /**
   * The oldest write comes first, because the event feed delivers them in this order. This is an
   * array because a `Map` would retain removed objects, in tables that V8 has replaced (see
   * lib/collections/id-table.ts).
   */
  readonly #writes: OwnWrite[] = []
  #bytes = 0

  add(write: OwnWrite): void {
    this.#writes.push(write)
    this.#bytes += write.wire.bytes.length
    while (this.#writes.length > WRITES_MAX || this.#bytes > BYTES_MAX) this.#remove(0)
  }

  take(key: Key, revision: Revision): OwnWrite | undefined {
    const at = this.#writes.findIndex((write) => write.revision === revision && write.key === key)
    return at === -1 ? undefined : this.#remove(at)
  }

  #remove(at: number): OwnWrite | undefined {
    const [write] = this.#writes.splice(at, 1)
    this.#bytes -= write?.wire.bytes.length ?? 0
    return write
  }
}
