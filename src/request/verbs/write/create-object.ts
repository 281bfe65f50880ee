import { ApiError, nameNotGenerated } from '../../../api/errors.ts'
import { type KubeObject, omit } from '../../../api/object.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { WriteAccess } from '../access.ts'
import type { WrittenObject } from '../represent/representation.ts'
import { toApiError } from '../storage-errors.ts'
import type { WriteOptions } from '../write-options.ts'
import { HeldAllocation } from './allocate.ts'
import { complete, mutate } from './steps.ts'
import { storeNew } from './store-new.ts'
import type { Write } from './write.ts'

/** Maximum number of attempts with a generated name, as in kube-apiserver. */
const NAME_TRIES = 8

/** Admits and stores a new object, and returns it for the response. */
export async function createObject(
  request: ResourceRequest,
  decoded: KubeObject,
  { options, access }: { readonly options: WriteOptions; readonly access: WriteAccess },
): Promise<WrittenObject> {
  const { resource, context } = request
  const { generateName = '', name = '' } = decoded.metadata
  const allocation = access.effects.allocator && new HeldAllocation(access.effects.allocator)
  const write: Write = { request, options, access, owners: 'recorded', allocation }
  try {
    const mutated = await mutate(write, withoutSystemFields(decoded), undefined)
    for (let tries = 1; ; tries++) {
      try {
        const stored = await storeNew(write, await complete(write, mutated, undefined))
        await allocation?.keep()
        return stored
      } catch (error) {
        await allocation?.giveBack(error)
        if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists' || generateName === '')
          throw error
        if (name !== '' || tries === NAME_TRIES)
          throw nameNotGenerated(resource, error.details?.name ?? '')
      }
    }
  } catch (error) {
    throw toApiError(context, { resource, name, verb: 'create' }, error)
  } finally {
    context.endWrite()
  }
}

/** Removes the fields that only the server can set. */
function withoutSystemFields(object: KubeObject): KubeObject {
  const { metadata } = object
  return systemFields.some((name) => name in metadata)
    ? { ...object, metadata: omit(metadata, ...systemFields) }
    : object
}

const systemFields = [
  'uid',
  'creationTimestamp',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const
