/**
 * Deletes an object that cannot be read, for who asks for that: nobody can tell what it was, so neither admission nor finalizers are asked,
 * and no dependents are looked for.
 */
import { invalid, type Status } from '../api/errors.ts'
import { invalidValue } from '../api/field-fault.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { unsafeOption } from './delete-options.ts'
import { translated } from './storage-errors.ts'

/** Fails with Invalid where there is nothing, or an object that can be read. */
export async function deleteUnreadable(request: ResourceRequest, access: WriteAccess): Promise<Status> {
  const { resource, namespace, name, context } = request
  await access.authorizeUnsafeDelete?.(request)
  const key = access.keys.key(namespace, name)
  const isDeleted = await translated(context, { resource, name, verb: 'delete' }, async () =>
    access.store.deleteUnreadable(key, access.decode, { signal: context.signal }),
  )
  if (!isDeleted) {
    const why = 'is exclusively used to delete corrupt object(s), try again by removing this option'
    // The resource stands where others have the kind.
    throw invalid({ group: resource.group, kind: resource.plural }, name, [invalidValue(unsafeOption, true, why)])
  }
  const group = resource.group === '' ? {} : { group: resource.group }
  const details = { name, ...group, kind: resource.kind }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, code: 200 }
}
