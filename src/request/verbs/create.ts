import type { Admission } from '../../admission/admission.ts'
import { attributesOf } from './admission-attributes.ts'
import { badRequest } from '../../api/errors.ts'
import type { ApiResponse } from '../../api/request.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { answerWrite } from './answer.ts'
import { readObject } from './read-body.ts'
import { represent } from './represent/represent.ts'
import { unsupportedSubresource } from './unsupported.ts'
import { createObject } from './write/create-object.ts'
import { parseWriteOptions } from './write-options.ts'

export async function create(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, subresource, namespace, http } = request
  const show = represent(negotiate(http, resource), access.forms, request)
  if (subresource !== '' || !resource.isStored)
    throw await refuseSubresource(request, access.admission)
  if (resource.isNamespaced && namespace === '') throw badRequest('Namespace parameter required.')
  const options = parseWriteOptions(http.query, 'CreateOptions', request.resource.release)
  const object = await readObject(request, options.fieldValidation, access)
  const written = await createObject(request, object, { options, access })
  return answerWrite(request, { ...written, isNew: true }, show)
}

/**
 * Returns the error for a create that the path does not support. If admission also rejects the
 * request, the error of admission takes precedence, as for any write.
 */
async function refuseSubresource(request: ResourceRequest, admission: Admission): Promise<Error> {
  const options = { isDryRun: request.http.query.has('dryRun') }
  await admission.mutate(attributesOf(request, { operation: 'CREATE', options }))
  return unsupportedSubresource(request)
}
