import { badRequest } from '../api/errors.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import { decodeBody } from '../codec/decode-body.ts'
import { negotiateJson, requireJsonBody } from '../codec/negotiate.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { created } from './answer.ts'
import { createObject } from './write.ts'
import { inNamespace, refuseDryRun } from './write-request.ts'

export async function create(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, http } = request
  negotiateJson(firstHeader(http.headers, 'accept'))
  requireJsonBody(firstHeader(http.headers, 'content-type'))
  refuseDryRun(http.query)
  const object = inNamespace(decodeBody(await http.body(), resource), request)
  if (resource.isNamespaced && request.namespace === '') throw badRequest('Namespace parameter required.')
  return created(await createObject(request, object, access))
}
