/**
 * Values that this server wrote recently, in stored form and in plaintext. The event feed delivers
 * every write, and an event with exactly the written bytes does not have to be decrypted.
 */
import { LruCache } from '../../lib/cache/lru-cache.ts'
import type { Key } from '../engine.ts'

/**
 * Maximum number of writes that wait for the event feed. At 5,000 writes per second, they are the
 * writes of a tenth of a second.
 */
const VALUES_MAX = 512
/**
 * Maximum size of a stored value, which limits the memory to 16 MB. For larger values, creating the
 * cipher is only a small part of the cost of decryption.
 */
const VALUE_BYTES_MAX = 16 << 10

/**
 * A recent write. When its plaintext is returned, the buffers are removed but the entry stays in
 * the cache, because deleting an entry is slower.
 */
type OwnWrite = { sealed: Buffer; plain: Buffer }

const taken = Buffer.alloc(0)

export class OwnWrites {
  readonly #recent = new LruCache<OwnWrite>(VALUES_MAX)

  /** Stores a write. Neither of the two buffers may be changed later. */
  keep(key: Key, sealed: Buffer, plain: Buffer): void {
    if (plain.length > VALUE_BYTES_MAX) this.#recent.delete(key)
    else this.#recent.set(key, { sealed, plain })
  }

  /**
   * Returns the plaintext, but only once per write. Returns undefined if there is no such write.
   */
  take(key: Key, stored: Buffer): Buffer | undefined {
    const own = this.#recent.get(key)
    if (own === undefined || own.sealed === taken || !own.sealed.equals(stored)) return undefined
    const { plain } = own
    own.sealed = taken
    own.plain = taken
    return plain
  }

  clear(): void {
    this.#recent.clear()
  }
}
