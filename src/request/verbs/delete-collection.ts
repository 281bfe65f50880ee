import { ApiError, invalid } from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import type { ApiResponse } from '../../api/request.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { deleteObject, warnOfDeletion } from './delete.ts'
import { type DeleteOptions, readDeleteOptions, unsafeOption } from './delete-options.ts'
import { readPage, refuseUndecodable } from './list.ts'
import { represent } from './represent/represent.ts'

/**
 * Maximum number of concurrent deletes. Each delete is a write to etcd. More deletes would only
 * wait for etcd.
 */
const WORKERS_MAX = 100

/**
 * Deletes the objects that a list with the same query returns, and responds with that list. Each
 * worker deletes one object at a time. An object that no longer exists is skipped, even if another
 * object now has its name. Any other error ends the deletion.
 */
export async function deleteCollection(
  request: ResourceRequest,
  access: WriteAccess,
): Promise<ApiResponse> {
  const { http } = request
  const representation = represent(negotiate(http, request.resource), access.forms, request)
  const allowsUnsafe = access.permissions.authorizeUnsafeDelete !== undefined
  // Read the options before the list. Thus an error for invalid options takes precedence over an
  // error for objects that cannot be read.
  if (allowsUnsafe) refuseUnsafe(await readDeleteOptions(request, access))
  const { page, metadata } = await readPage(request, access, { isPaged: true })
  const options = await readDeleteOptions(request, access)
  if (allowsUnsafe) refuseUndecodable(request, access, page)
  // All workers take their next object from this iterator.
  const items = page.items.values()
  let hasFailed = false
  // All workers share these time slices, so that together they do not block the event loop. As in
  // kube-apiserver, the request uses one seat, regardless of the number of its workers.
  const slices = new Slices()
  const deleteRest = async (): Promise<void> => {
    for (const { key, createRevision } of items) {
      const place = access.keys.parse(key)
      if (place === undefined) continue
      if (slices.isOver) await slices.turn()
      if (hasFailed) return
      warnOfDeletion(request, options)
      try {
        const one = { ...request, namespace: place.namespace ?? '', name: place.name }
        await deleteObject(one, options, access, { createRevision })
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'NotFound') continue
        hasFailed = true
        throw error
      }
    }
  }
  const workers = Math.min(access.deletion.deleteWorkers, WORKERS_MAX, page.items.length)
  // Wait for all workers, so that no delete is still running when the response is sent.
  const ends = await Promise.allSettled(Array.from({ length: workers }, deleteRest))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return {
    status: 200,
    headers: representation.headers,
    body: await representation.list(page.items, metadata),
  }
}

function refuseUnsafe({ isUnsafe }: DeleteOptions): void {
  if (!isUnsafe) return
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option'
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    invalidValue(unsafeOption, true, why),
  ])
}
