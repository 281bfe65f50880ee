/**
 * Creates the items of one resource. Cached items are stored in the cache. Loose items are not
 * stored; they are for a single reader. A version that this process wrote does not have to be
 * decoded.
 */
import type { VersionedValue } from '../engine.ts'
import { StorageError } from '../errors.ts'
import type { Transformer } from '../transform.ts'
import { Item, type ItemHome } from './item.ts'
import { type OwnWrite, OwnWrites } from './own-writes.ts'
import type { CachedResourceOptions, ResourceSpec } from './resource-options.ts'
import type { Slabs } from './slabs.ts'

export class ResourceItems {
  readonly #slabs: Slabs
  readonly #transformer: Transformer
  readonly #home: ItemHome
  readonly #looseHome: ItemHome
  #ownWrites = new OwnWrites()

  constructor(spec: ResourceSpec, { slabs, decoded, transformer }: CachedResourceOptions) {
    this.#slabs = slabs
    this.#transformer = transformer
    this.#home = {
      codec: spec,
      put: (item, bytes, facts) => slabs.put(item, bytes, facts),
      view: (item, start, end) => slabs.view(item, start, end),
      keep: (item) => decoded.add(item),
    }
    this.#looseHome = {
      ...this.#home,
      put: (item, bytes, facts) => slabs.putLoose(item, bytes, facts),
    }
  }

  /** Creates a cached item. */
  newItem(found: VersionedValue): Item {
    const item = new Item(this.#home, found)
    const own = this.#ownWrites.take(found.key, found.revision)
    if (own === undefined) this.#slabs.put(item, found.value)
    else item.setWire(own.object, own.wire)
    return item
  }

  /** Creates an item for a single reader. The item is not stored in the cache. */
  looseItem(found: VersionedValue): Item {
    const item = new Item(this.#looseHome, found)
    this.#slabs.putLoose(item, found.value)
    return item
  }

  /**
   * Records a write that the event feed has not delivered yet, so that its item does not have to be
   * decoded.
   */
  expect(write: OwnWrite): void {
    this.#ownWrites.add(write)
  }

  forgetWrites(): void {
    this.#ownWrites = new OwnWrites()
  }

  /**
   * Decrypts a value. Returns undefined if the value cannot be decrypted, or if this requires a
   * call to a KMS plugin.
   */
  decrypt({ key, revision, createRevision, value }: VersionedValue): VersionedValue | undefined {
    try {
      const plain = this.#transformer.fromStorage(key, value)
      if (!(plain instanceof Promise)) return { key, revision, createRevision, value: plain.value }
      // The KMS plugin has been called. Ignore the result of the call, including errors.
      plain.catch(() => undefined)
      return undefined
    } catch (error) {
      if (error instanceof StorageError) return undefined
      throw error
    }
  }
}
