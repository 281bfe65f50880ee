/**
 * A patch makes the object to write from the one that is there; the rest is the way of an update. When somebody else was first it
 * is made anew from what is there then, unless the patch names the version that it wants to change.
 */
import { notFound } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { ApiResponse } from '../api/request.ts'
import { negotiate } from '../codec/negotiate.ts'
import { type PatchForm, patchForm } from '../codec/patch-form.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { answer } from './answer.ts'
import { readApply } from './apply.ts'
import { checkName, checkNamespace, inNamespace } from './identity.ts'
import { checkPart, unsupportedPart } from './unsupported.ts'
import { type Change, updateObject } from './write.ts'
import { parsePatchOptions } from './write-options.ts'

/** Of the object, or of a part of it that has a path of its own. */
export async function patch(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { http } = request
  const kind = patchForm(http.headers)
  const form = negotiate(http)
  checkPart(request)
  const options = parsePatchOptions(http.query, { isApply: kind === 'apply' })
  const body = await http.body()
  const writing = { options, access }
  const change = kind === 'apply' ? await readApply(request, body, writing) : readPatch(request, body, kind)
  const { isNew, bytes } = await updateObject(request, inPlace(change, request), writing)
  return answer(isNew ? 201 : 200, bytes, form)
}

/** What comes out must still be the object that the path names. */
function inPlace(change: Change, request: ResourceRequest): Change {
  return async (current) => {
    const object = await change(current)
    checkName(object, request)
    checkNamespace(object, request)
    return inNamespace(object, request)
  }
}

function readPatch(request: ResourceRequest, _body: Buffer, _kind: PatchForm): Change {
  const { resource, name } = request
  return (current): KubeObject => {
    if (current === undefined) throw notFound(resource, name)
    throw unsupportedPart(request)
  }
}
