/**
 * Creates an item as the cache creates it for a stored object that has not been read yet. No cache
 * is needed.
 */
import { decodeStored, printWire } from '../../../src/objects/codec/object.ts'
import type { ObjectSchema } from '../../../src/objects/schema/object-schema.ts'
import { Item, type ItemHome } from '../../../src/storage/cache/item.ts'

export function storedItem(stored: Buffer, shape: ObjectSchema): Item {
  const bytes = new Map<Item, Buffer>()
  const home: ItemHome = {
    codec: {
      decode: (value, _key, revision) => decodeStored(value, shape, revision),
      print: (one) => printWire(one, shape),
    },
    put: (item, made) => {
      bytes.set(item, made)
      item.length = made.length
    },
    view: (item, start, end) => (bytes.get(item) ?? stored).subarray(start, end),
    keep: () => undefined,
  }
  const item = new Item(home, { key: '/r/a', revision: 7, createRevision: 1 })
  item.length = stored.length
  return item
}
