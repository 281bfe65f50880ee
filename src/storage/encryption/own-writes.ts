/**
 * What this server wrote of late, as it is stored and in plain: the feed brings every write back,
 * and what comes back just as it was written need not be decrypted.
 */
import { LruCache } from '../../lib/cache/lru-cache.ts'
import type { Key } from '../engine.ts'

/** Writes that the feed has not brought yet: a tenth of a second of 5,000 a second. */
const VALUES_MAX = 512
/**
 * Larger ones are decrypted: to make the cipher is a small part of it then, and this bounds what is
 * kept to 16 MB.
 */
const VALUE_BYTES_MAX = 16 << 10

/** Empty once it was taken: to delete it from a Map takes longer. */
type OwnWrite = { sealed: Buffer; plain: Buffer }

const taken = Buffer.alloc(0)

export class OwnWrites {
  readonly #recent = new LruCache<OwnWrite>(VALUES_MAX)

  /** Neither of the two may be changed later. */
  keep(key: Key, sealed: Buffer, plain: Buffer): void {
    if (plain.length > VALUE_BYTES_MAX) this.#recent.delete(key)
    else this.#recent.set(key, { sealed, plain })
  }

  /** The value in plain, once. Undefined: it is not known. */
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
