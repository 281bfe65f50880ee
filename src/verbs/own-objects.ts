/** How the server itself reads objects and changes them, besides what clients ask of it. */
import type { Objects, Place } from '../admission/objects.ts'
import type { KubeObject } from '../api/object.ts'
import { encodeStored } from '../codec/object.ts'
import { assert } from '../lib/assert.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { segmentFault } from '../storage/keys.ts'
import type { WriteAccess } from './access.ts'
import { cachedCurrent, written } from './write.ts'

/** Of a resource that is not served there are no objects. */
export function createOwnObjects(registry: Registry, accessOf: (resource: Resource) => WriteAccess): Objects {
  return {
    get: async (id, { namespace, name }, at) => {
      const resource = registry.find(id)
      // A plugin asks for names that nobody has checked yet.
      if (resource === undefined || segmentFault(name) !== undefined) return undefined
      const { keys, reader } = accessOf(resource)
      return (await reader.get(keys.key(namespace, name), at)).item?.object()
    },
    list: async (id, namespace, at) => {
      const resource = registry.find(id)
      if (resource === undefined) return []
      const { keys, reader } = accessOf(resource)
      const { items } = await reader.list(resource.isNamespaced ? keys.range(namespace) : keys.range(), at)
      return items.map((item) => item.object())
    },
    change: async (id, place, decide) => {
      const resource = registry.find(id)
      return resource !== undefined && (await change(resource, accessOf(resource), place, decide))
    },
  }
}

async function change(
  resource: Resource,
  access: WriteAccess,
  { namespace, name }: Place,
  decide: (object: KubeObject) => KubeObject | undefined,
): Promise<boolean> {
  const { store, decode } = access
  const key = access.keys.key(namespace, name)
  const cached = await cachedCurrent(key, access)
  let changed: KubeObject | undefined
  const { outcome, revision, previous } = await store.update(key, { cached, decode }, (current) => {
    changed = current && decide(current.object)
    return changed === undefined ? 'unchanged' : { put: encodeStored(changed, resource.shape) }
  })
  if (outcome === 'put') {
    assert(changed !== undefined, 'what was put was decided')
    written(changed, key, revision, { resource, access })
  }
  return previous !== undefined
}
