/** The step that stores a new object. */
import { type ApiError, alreadyExists, unclassified } from '../../../api/errors.ts'
import { type KubeObject, withManagedFields } from '../../../api/object.ts'
import { encodeStored } from '../../../objects/codec/object.ts'
import type { Key } from '../../../storage/engine.ts'
import { isCode } from '../../../storage/errors.ts'
import { isMarked } from '../../../registry/deletion.ts'
import { uintFault } from '../options.ts'
import type { WrittenObject } from '../represent/representation.ts'
import type { Write } from './write.ts'
import { answered, readBack, shownLarge } from './written.ts'

/**
 * Stores the object and returns it. If its JSON was generated for the cache, also returns the JSON.
 * A dry run only checks whether the name is free.
 */
export async function storeNew(write: Write, object: KubeObject): Promise<WrittenObject> {
  const { request, options, access } = write
  const { resource, namespace, context } = request
  const { name = '', resourceVersion = '' } = object.metadata
  const key = access.keys.key(namespace, name)
  if (options.isDryRun) {
    const { item } = await access.reader.get(key, 'latest')
    if (item !== undefined)
      throw alreadyExists(resource, name, { isTerminating: isMarked(await item.peekInParts()) })
    return shownLarge(request, await readBack(object, { request, resource, access }))
  }
  if (
    resourceVersion !== '' &&
    uintFault(resourceVersion) === undefined &&
    BigInt(resourceVersion) > 0n
  ) {
    throw unclassified('resourceVersion should not be set on objects to be created')
  }
  const { store, ttlSeconds } = access.storage
  write.allocation?.offer()
  for (let made = object; ; made = withManagedFields(made, undefined)) {
    try {
      const encode = (): Buffer => encodeStored(made, resource.shape)
      const stored = context.isLarge ? await context.inParts(encode) : encode()
      const revision = await store.create(key, stored, {
        ttlSeconds,
        signal: context.signal,
      })
      return await answered(made, key, revision, { request, resource, access, stored })
    } catch (error) {
      if (isCode(error, 'exists')) throw await existing(write, name, key)
      // If the object with its managedFields is too large for etcd, it is stored without them.
      if (!isCode(error, 'too-large') || made.metadata['managedFields'] === undefined) throw error
    }
  }
}

/**
 * Returns the error for a name that is in use. The error states whether the existing object is
 * being deleted. A name is also in use if its object cannot be read.
 */
async function existing({ request, access }: Write, name: string, key: Key): Promise<ApiError> {
  let isTerminating = false
  try {
    const { item } = await access.reader.get(key, 'latest')
    isTerminating = item !== undefined && isMarked(await item.peekInParts())
  } catch (error) {
    if (!isCode(error, 'corrupt') && !isCode(error, 'sealed')) throw error
  }
  return alreadyExists(request.resource, name, { isTerminating })
}
