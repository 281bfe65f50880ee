/**
 * Versions that this process wrote itself and has printed already; the feed will deliver each of
 * them once.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Wire } from '../../objects/codec/object.ts'
import type { Key, Revision } from '../engine.ts'

/**
 * The feed follows within milliseconds; a version that it has not delivered by then is read like
 * any other.
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
   * The oldest first, as the feed delivers them. In a `Map`, objects that were taken would stay in
   * tables that V8 has replaced, and become old (net/http2/stream-table.ts says why).
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
