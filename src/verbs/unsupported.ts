/** What upstream serves and this server does not yet: refused by name, rather than half done. */
import { type ApiError, methodNotAllowed } from '../api/errors.ts'
import type { ResourceRequest } from '../registry/resource.ts'

export function unsupportedPart({ resource, subresource, verb }: ResourceRequest): ApiError {
  const plural = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
  return methodNotAllowed({ group: resource.group, plural }, verb)
}
