/**
 * Serves PATCH. A patch is applied to the current object, and the result is written as in an
 * update. If another writer changes the object first, the patch is applied again to the new object,
 * unless the patch contains a resourceVersion.
 */
import type { ApiResponse } from '../../api/request.ts'
import { checkMembers } from '../../objects/codec/member-count.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import { patchForm } from '../../objects/codec/patch-form.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { answerWrite } from './answer.ts'
import { readApply } from './apply.ts'
import { holdValues } from './hold-values.ts'
import { checkName, inNamespace } from './identity.ts'
import { readPatch } from './read-patch.ts'
import { represent } from './represent/represent.ts'
import { checkSubresource } from './unsupported.ts'
import { updateObject } from './write/update-object.ts'
import type { Change } from './write/write.ts'
import { parsePatchOptions } from './write-options.ts'

/** Patches an object or one of its subresources. */
export async function patch(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { http } = request
  const form = patchForm(http, request.resource)
  const show = represent(negotiate(http, request.resource), access.forms, request, request.view)
  checkSubresource(request)
  const isApply = form === 'apply' || form === 'apply-cbor'
  const options = parsePatchOptions(http.query, { isApply, release: request.resource.release })
  const body = await request.context.readBody(http)
  if (request.context.isLarge && form !== 'apply-cbor') await holdValues(request, body)
  request.context.audited?.requestPatch(body)
  const writing = { options, access }
  const { fieldValidation } = options
  if (request.context.isLarge && !isApply) await request.context.inParts(() => checkMembers(body))
  const change = isApply
    ? await readApply(request, { form, body }, writing)
    : readPatch(request, { form, body, fieldValidation })
  const tracked = { ...writing, owners: isApply ? 'stated' : 'recorded' } as const
  return answerWrite(request, await updateObject(request, inPlace(change, request), tracked), show)
}

/**
 * Wraps a change so that it fails if the patched object does not have the name and namespace of the
 * path.
 */
function inPlace(change: Change, request: ResourceRequest): Change {
  return async (current, stored) => {
    const object = inNamespace(await change(current, stored), request)
    checkName(object, request)
    return object
  }
}
