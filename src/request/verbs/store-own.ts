/**
 * Stores many new objects of the server itself, with the same bytes that a create through the API
 * would store: managedFields, uid, creationTimestamp.
 *
 * The other steps of a write (decoding, admission, escalation check, validation, response) are
 * needed only for client input. For the initial objects of a cluster, these steps would take half
 * of the server's startup time.
 */
import { type KubeObject, withManagedFields } from '../../api/object.ts'
import { Differences } from '../../objects/apply/differences.ts'
import { printOwners } from '../../objects/apply/managers.ts'
import { mergeTypeOfObjects } from '../../objects/apply/object-merge-type.ts'
import { recordUpdate } from '../../objects/apply/record.ts'
import { givenWire } from '../../objects/apply/wire.ts'
import { encodeStored } from '../../objects/codec/object.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import { isCode } from '../../storage/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { emptyWire, ignoredAt } from './owners.ts'

export type OwnWrite = {
  readonly resource: Resource
  readonly access: Pick<WriteAccess, 'keys' | 'ids' | 'now'>
  readonly store: Pick<ObjectStore, 'create'>
  /** The field manager for managedFields. */
  readonly manager: string
  readonly signal: AbortSignal
}

/**
 * Stores an object, which must be complete and valid. Returns false if an object with this name
 * exists, and does not change that object. Fails with a StorageError if the object cannot be
 * written.
 */
export async function storeOwn(write: OwnWrite, object: KubeObject): Promise<boolean> {
  const { resource, access, store, signal } = write
  const { namespace, name = '' } = object.metadata
  const now = access.now()
  const metadata = { ...object.metadata, uid: access.ids.uid(), creationTimestamp: now }
  const made = withManagedFields({ ...object, metadata }, ownersOf(write, object, now))
  try {
    await store.create(access.keys.key(namespace, name), encodeStored(made, resource.shape), {
      signal,
    })
    return true
  } catch (error) {
    if (isCode(error, 'exists')) return false
    throw error
  }
}

function ownersOf(
  { resource, manager }: OwnWrite,
  object: KubeObject,
  now: string,
): ReturnType<typeof printOwners> {
  const { struct } = resource.shape
  const versions = {
    type: mergeTypeOfObjects(struct),
    before: emptyWire(struct),
    after: givenWire(object, struct),
  }
  const differences = new Differences(versions, ignoredAt({ resource, subresource: '' }))
  const writer = {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    subresource: '',
  } as const
  return printOwners(recordUpdate(new Map(), { writer, now, differences }))
}
