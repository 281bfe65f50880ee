/**
 * Versions that this process wrote and has already printed. The feed delivers each of them once,
 * and the cache then need not decode it.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Wire } from '../../objects/codec/object.ts'
import type { Key, Revision } from '../engine.ts'

/**
 * Limits of the versions that are kept. The feed delivers a version within milliseconds. One that
 * was dropped before is decoded like any other.
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
   * Oldest first, in the order in which the feed delivers them. In a `Map`, objects that were taken
   * would stay in tables that V8 has replaced, and would move to the old generation (see
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
