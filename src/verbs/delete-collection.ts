import { ApiError, invalid } from '../api/errors.ts'
import { invalidValue } from '../api/field-fault.ts'
import type { ApiResponse } from '../api/request.ts'
import { negotiate } from '../codec/negotiate.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { deleteObject, warnOfDeletion } from './delete.ts'
import { readDeleteOptions, unsafeOption } from './delete-options.ts'
import { readPage } from './list.ts'
import { represent } from './represent/represent.ts'

/**
 * Deletes the objects that a list with the same query returns, one after the other, and answers with that list. Objects that are gone
 * meanwhile are skipped; any other error ends the deletion.
 */
export async function deleteCollection(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { http } = request
  const representation = represent(negotiate(http, request.resource), access.forms, request)
  const { page, metadata } = await readPage(request, access, { isPaged: true })
  const options = await readDeleteOptions(request, access)
  if (options.isUnsafe) {
    const why = 'is not allowed with DELETECOLLECTION, try again after removing the option'
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [invalidValue(unsafeOption, true, why)])
  }
  for (const { key } of page.items) {
    const place = access.keys.parse(key)
    if (place === undefined) continue
    warnOfDeletion(request, options)
    try {
      const one = { ...request, namespace: place.namespace ?? '', name: place.name }
      await deleteObject(one, options, access)
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
    }
  }
  return { status: 200, headers: representation.headers, body: await representation.list(page.items, metadata) }
}
