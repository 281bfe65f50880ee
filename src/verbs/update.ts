import { badRequest } from '../api/errors.ts'
import type { ApiResponse } from '../api/request.ts'
import { negotiate } from '../codec/negotiate.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { answer } from './answer.ts'
import { readObject } from './read-body.ts'
import { unsupportedPart } from './unsupported.ts'
import { updateObject } from './write.ts'
import { parseWriteOptions } from './write-options.ts'

/** Of the object, or of a part of it that has a path of its own. */
export async function update(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, subresource, http, name } = request
  const form = negotiate(http)
  if (subresource !== '' && !Object.hasOwn(resource.subresourceRules, subresource)) throw unsupportedPart(request)
  const options = parseWriteOptions(http.query, 'UpdateOptions')
  const object = await readObject(request, options.fieldValidation, access)
  const given = object.metadata.name ?? ''
  if (given === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
  const { isNew, bytes } = await updateObject(request, object, { options, access })
  return answer(isNew ? 201 : 200, bytes, form)
}
