import { badRequest } from '../api/errors.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import { decodeBody } from '../codec/decode-body.ts'
import { negotiateJson, requireJsonBody } from '../codec/negotiate.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { ok } from './answer.ts'
import { updateObject } from './write.ts'
import { inNamespace, refuseDryRun } from './write-request.ts'

export async function update(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, http, name } = request
  negotiateJson(firstHeader(http.headers, 'accept'))
  requireJsonBody(firstHeader(http.headers, 'content-type'))
  refuseDryRun(http.query)
  const object = inNamespace(decodeBody(await http.body(), resource), request)
  const given = object.metadata.name ?? ''
  if (given === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
  return ok(await updateObject(request, object, access))
}
