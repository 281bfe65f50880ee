import { StorageError } from '../errors.ts'
import type { Item } from './item.ts'

/** What `read` makes of an item; undefined if what is stored cannot be decoded. */
export function ifDecodable<T>(item: Item, read: (item: Item) => T): T | undefined {
  try {
    return read(item)
  } catch (error) {
    if (error instanceof StorageError) return undefined
    throw error
  }
}
