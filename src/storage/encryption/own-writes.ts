/**
 * The values that this server wrote recently, both as stored and in plain text. The feed brings
 * every write back, and an event with exactly the bytes that were written need not be decrypted.
 */
import { LruCache } from '../../lib/cache/lru-cache.ts'
import type { Key } from '../engine.ts'

/**
 * Maximum number of writes that the feed has not brought back yet: a tenth of a second at 5,000
 * writes a second.
 */
const VALUES_MAX = 512
/**
 * Maximum size of a remembered value, which bounds the memory to 16 MB. For larger values, creating
 * the cipher is only a small part of the cost of decryption.
 */
const VALUE_BYTES_MAX = 16 << 10

/** A remembered write. It is emptied when it is taken, because deleting it from a Map is slower. */
type OwnWrite = { sealed: Buffer; plain: Buffer }

const taken = Buffer.alloc(0)

export class OwnWrites {
  readonly #recent = new LruCache<OwnWrite>(VALUES_MAX)

  /** Remembers a write. Neither of the two buffers may be changed later. */
  keep(key: Key, sealed: Buffer, plain: Buffer): void {
    if (plain.length > VALUE_BYTES_MAX) this.#recent.delete(key)
    else this.#recent.set(key, { sealed, plain })
  }

  /** Returns the plain value, once. Returns undefined if the write is not known. */
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
