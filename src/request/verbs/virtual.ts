/**
 * Objects that are computed for each read instead of being stored, such as ComponentStatus. The
 * verbs read them like any other object.
 */
import { notFound } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Cache } from '../../storage/cache/cache.ts'
import type { Item } from '../../storage/cache/item.ts'
import { printUnversioned } from '../../objects/codec/object.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import type { ReadAccess } from './access.ts'

export type VirtualOptions = {
  readonly resource: Resource
  readonly keys: ResourceKeys
  /** Returns all objects, sorted by name. */
  readonly read: () => Promise<readonly KubeObject[]>
  readonly cache: Cache
}

/**
 * Creates the reader. Virtual objects have no revision. Lists of them need no limit, because there
 * are only a few.
 */
export function virtualReader({
  resource,
  keys,
  read,
  cache,
}: VirtualOptions): ReadAccess['reader'] {
  const print = (object: KubeObject) => printUnversioned(object, resource.shape)
  const all = async (): Promise<Item[]> =>
    (await read()).map((object) =>
      cache.looseItem({ key: keys.key('', object.metadata.name ?? '') }, object, print),
    )
  return {
    get: async (key) => {
      const item = (await all()).find((one) => one.key === key)
      // If a resource is not stored, the error contains its singular name, as in kube-apiserver.
      if (item === undefined)
        throw notFound(
          { group: '', plural: resource.discovery.singular },
          keys.parse(key)?.name ?? '',
        )
      return { revision: 0, item }
    },
    list: async ({ from, to }, _at, selection) => {
      const isIn = (item: Item): boolean => item.key >= from && item.key < to
      const { matches = () => true } = selection ?? {}
      const items = (await all()).filter((item) => isIn(item) && matches(item))
      return { revision: 0, items, more: false, remaining: 0 }
    },
  }
}
