/** Allows the server itself to read and change objects without a client request. */
import type { NamespacedName, Objects, WantedField } from '../../api/object-access.ts'
import { type Json, type KubeObject, withManagedFields } from '../../api/object.ts'
import { assert } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { Differences } from '../../objects/apply/differences.ts'
import { printOwners, readOwners } from '../../objects/apply/managers.ts'
import { mergeTypeOfObjects } from '../../objects/apply/object-merge-type.ts'
import { recordUpdate } from '../../objects/apply/record.ts'
import { storedWire } from '../../objects/apply/wire.ts'
import { valueAt } from '../../objects/codec/json-bytes.ts'
import { encodeStored } from '../../objects/codec/object.ts'
import type { Item } from '../../storage/cache/item.ts'
import { selects } from '../../storage/cache/selector.ts'
import { hasAny } from '../../storage/cache/tree.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import type { Registry } from '../../registry/registry.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import { segmentFault } from '../../storage/keys.ts'
import type { StoredValue } from '../../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { ignoredAt } from './owners.ts'
import { valuesToLookUp } from './selection.ts'
import { currentOf, readCached } from './write/commit.ts'
import { written } from './write/written.ts'

/**
 * Creates the object access for the server's own components. A resource that is not served has no
 * objects.
 */
export function createSystemObjects(
  registry: Registry,
  accessOf: (resource: Resource) => WriteAccess,
): Objects {
  return {
    get: (id, { namespace, name }, at) => {
      const resource = registry.find(id)
      if (resource === undefined) return undefined
      const { keys, reader } = accessOf(resource)
      // Return undefined for an invalid name, because plugins can pass names that have not been
      // validated yet.
      if (segmentFault(name) !== undefined) return undefined
      const key = keys.key(namespace, name)
      const known = at === 'any' ? reader.known() : undefined
      return known === undefined
        ? reader.get(key, at).then(({ item }) => item?.objectInParts())
        : known.get(key)?.object()
    },
    list: (id, namespace, at) => {
      const resource = registry.find(id)
      if (resource === undefined) return []
      const { keys, reader } = accessOf(resource)
      const range = resource.isNamespaced ? keys.range(namespace) : keys.range()
      const known = at === 'any' ? reader.known() : undefined
      if (known !== undefined && !hasAny(known, range)) return []
      return reader.list(range, at).then(({ items }) => decodeAll(items))
    },
    pick: async (id, namespace, wanted) => {
      const resource = registry.find(id)
      if (resource === undefined) return []
      const { keys, reader } = accessOf(resource)
      const { items } = await reader.list(keys.range(namespace), 'latest')
      return pickObjects(items, wanted)
    },
    select: async (id, namespace, requirements) => {
      const resource = registry.find(id)
      if (resource === undefined) return []
      const { keys, reader } = accessOf(resource)
      const range = resource.isNamespaced ? keys.range(namespace) : keys.range()
      const selector = { requirements, terms: [] }
      const selection =
        requirements.length === 0
          ? {}
          : { matches: selects(selector), by: valuesToLookUp(selector, []) }
      const { items } = await reader.list(range, 'any', selection)
      return items.map((item) => () => item.object())
    },
    changeStatus: async (id, place, decide) => {
      const resource = registry.find(id)
      return resource && changeStatus(resource, accessOf(resource), place, decide)
    },
  }
}

export async function pickObjects(
  items: readonly Item[],
  { path, isWanted, countMax }: WantedField,
): Promise<readonly KubeObject[]> {
  // Processing a large object takes longer than a slice. Therefore only one caller with large
  // objects continues in each tick of the event loop.
  const slices = new Slices(systemTime, { isExpensive: items.some(({ isLarge }) => isLarge) })
  if (slices.isExpensive) await slices.turn()
  const picked: KubeObject[] = []
  for (const item of items) {
    if (picked.length === countMax) break
    if (item.isUnprepared) await item.prepare()
    const isPicked = isWanted(valueAt(item.wire(), path))
    if (slices.isOver) await slices.turn()
    if (isPicked) picked.push(await item.objectInParts())
  }
  return picked
}

/** Decodes objects from the cache. If there are only a few small objects, one slice is enough. */
async function decodeAll(items: readonly Item[]): Promise<readonly KubeObject[]> {
  const slices = new Slices()
  const objects: KubeObject[] = []
  for (const item of items) {
    objects.push(await item.objectInParts())
    if (slices.isOver) await slices.turn()
  }
  return objects
}

async function changeStatus(
  resource: Resource,
  access: WriteAccess,
  { namespace, name }: NamespacedName,
  decide: (object: KubeObject) => KubeObject | undefined,
): Promise<string | undefined> {
  const { store, decode: decodeStored } = access.storage
  const key = access.keys.key(namespace, name)
  const item = await readCached(access, key)
  const slices = new Slices(systemTime, { isExpensive: true })
  const run = <T>(work: () => T): MaybePromise<T> =>
    item?.isLarge === true ? inParts(work, slices) : work()
  const cached = item && (await run(() => currentOf(item)))
  const decode = (stored: StoredValue): MaybePromise<KubeObject> => run(() => decodeStored(stored))
  let changed: KubeObject | undefined
  const { outcome, revision, previous } = await store.update(
    key,
    { cached, decode },
    async (current) => {
      const decided = current && decide(current.object)
      if (current === undefined || decided === undefined) return 'untouched'
      const owners = await run(() =>
        ownersAfter(resource, { before: current.object, after: decided }, access),
      )
      const made = withManagedFields(decided, owners)
      changed = made
      return { put: await run(() => encodeStored(made, resource.shape)) }
    },
  )
  if (outcome === 'put') {
    assert(changed !== undefined, 'a change that was stored has an object')
    const made = changed
    await run(() => written(made, key, revision, { resource, access }))
  }
  return previous && String(revision)
}

/**
 * Omits the top-level fields whose values are identical (`===`) in both objects, so that they need
 * not be compared. The spec of a CustomResourceDefinition, for example, is large.
 */
function otherThan(other: KubeObject, object: KubeObject): KubeObject {
  const fields = Object.entries(object).filter(([name, field]) => field !== other[name])
  const { apiVersion, kind, metadata } = object
  return { ...Object.fromEntries(fields), apiVersion, kind, metadata }
}

/** Field manager of the server's own writes, as in kube-apiserver. */
export const ownManager = 'kube-apiserver'

function ownersAfter(
  resource: Resource,
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
  { now }: Pick<WriteAccess, 'now'>,
): Json | undefined {
  const owners = readOwners(before.metadata['managedFields']) ?? new Map()
  // An update does not add managedFields to an object without them. Only the first apply adds them.
  if (owners.size === 0) return before.metadata['managedFields']
  const { struct } = resource.shape
  const versions = {
    type: mergeTypeOfObjects(struct),
    before: storedWire(otherThan(after, before), struct),
    after: storedWire(otherThan(before, after), struct),
  }
  const differences = new Differences(
    () => versions,
    ignoredAt({ resource, subresource: 'status' }),
  )
  const writer = {
    manager: ownManager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    subresource: 'status',
  } as const
  return printOwners(recordUpdate(owners, { writer, now: now(), differences }))
}
