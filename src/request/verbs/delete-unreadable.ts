/**
 * Deletes an object that cannot be decoded, if the client requests this. The content of the object
 * is unknown. Therefore the delete skips admission and ignores finalizers and dependents.
 */
import { invalid, type Status } from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { unsafeOption } from './delete-options.ts'
import { translated } from './storage-errors.ts'

/** Deletes the object. Fails with Invalid if it does not exist, or if it can be decoded. */
export async function deleteUnreadable(
  request: ResourceRequest,
  access: WriteAccess,
): Promise<Status> {
  const { resource, namespace, name, context } = request
  await access.permissions.authorizeUnsafeDelete?.(request)
  const key = access.keys.key(namespace, name)
  const isDeleted = await translated(context, { resource, name, verb: 'delete' }, async () =>
    access.storage.store.deleteUnreadable(key, access.storage.decode, { signal: context.signal }),
  )
  if (!isDeleted) {
    const why = 'is exclusively used to delete corrupt object(s), try again by removing this option'
    // The error contains the resource instead of the kind, as in kube-apiserver.
    throw invalid({ group: resource.group, kind: resource.plural }, name, [
      invalidValue(unsafeOption, true, why),
    ])
  }
  const group = resource.group === '' ? {} : { group: resource.group }
  const details = { name, ...group, kind: resource.kind }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, code: 200 }
}
