import { StorageError } from '../errors.ts'
import type { Item } from './item.ts'

/** Returns the result of `read` for an item, or undefined if the stored value cannot be decoded. */
export function ifDecodable<T>(item: Item, read: (item: Item) => T): T | undefined {
  try {
    return read(item)
  } catch (error) {
    if (error instanceof StorageError) return undefined
    throw error
  }
}
