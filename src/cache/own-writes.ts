/** Versions that this process wrote itself and has printed already; the feed will deliver each of them once. */
import type { KubeObject } from '../api/object.ts'
import type { Wire } from '../codec/object.ts'
import type { Key, Revision } from '../storage/engine.ts'

/** The feed follows within milliseconds; a version that it has not delivered by then is read like any other. */
const WRITES_MAX = 256
const BYTES_MAX = 4 << 20

export type OwnWrite = {
  readonly key: Key
  readonly revision: Revision
  readonly object: KubeObject
  readonly wire: Wire
}

export class OwnWrites {
  readonly #writes = new Map<Revision, OwnWrite>()
  #bytes = 0

  add(write: OwnWrite): void {
    this.#writes.set(write.revision, write)
    this.#bytes += write.wire.bytes.length
    for (const oldest of this.#writes.values()) {
      if (this.#writes.size <= WRITES_MAX && this.#bytes <= BYTES_MAX) break
      this.#remove(oldest)
    }
  }

  take(key: Key, revision: Revision): OwnWrite | undefined {
    if (this.#writes.size === 0) return undefined
    const write = this.#writes.get(revision)
    if (write?.key !== key) return undefined
    this.#remove(write)
    return write
  }

  #remove(write: OwnWrite): void {
    this.#writes.delete(write.revision)
    this.#bytes -= write.wire.bytes.length
  }
}
