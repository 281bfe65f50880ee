/**
 * A patch makes the object to write from the one that is there; the rest is the way of an update. When somebody else was first it
 * is made anew from what is there then, unless the patch names the version that it wants to change.
 */
import type { ApiResponse } from '../api/request.ts'
import { negotiate } from '../codec/negotiate.ts'
import { patchForm } from '../codec/patch-form.ts'
import { type ResourceRequest, viewOf } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { answerUpdate } from './answer.ts'
import { readApply } from './apply.ts'
import { checkName, inNamespace } from './identity.ts'
import { readPatch } from './read-patch.ts'
import { represent } from './represent/represent.ts'
import { checkSubresource } from './unsupported.ts'
import { updateObject } from './write/update-object.ts'
import type { Change } from './write/write.ts'
import { parsePatchOptions } from './write-options.ts'

/** Of the object, or of a part of it that has a path of its own. */
export async function patch(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { http } = request
  const form = patchForm(http, request.resource)
  const show = represent(negotiate(http, request.resource), access.forms, http.query, viewOf(request))
  checkSubresource(request)
  const isApply = form === 'apply' || form === 'apply-cbor'
  const options = parsePatchOptions(http.query, { isApply })
  const body = await http.body()
  const writing = { options, access }
  const { fieldValidation } = options
  const change = isApply
    ? await readApply(request, { form, body }, writing)
    : readPatch(request, { form, body, fieldValidation })
  const tracked = { ...writing, owners: isApply ? 'stated' : 'recorded' } as const
  return answerUpdate(request, await updateObject(request, inPlace(change, request), tracked), show)
}

/** What comes out must still be the object that the path names. */
function inPlace(change: Change, request: ResourceRequest): Change {
  return async (current, stored) => {
    const object = inNamespace(await change(current, stored), request)
    checkName(object, request)
    return object
  }
}
