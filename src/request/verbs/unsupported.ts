/** Rejects requests for subresources that cannot be read or written like objects. */
import { type ApiError, methodNotAllowed } from '../../api/errors.ts'
import type { ResourceRequest } from '../resource-request.ts'

/**
 * Fails unless the path identifies an object, or a subresource that can be read and written like an
 * object.
 */
export function checkSubresource(request: ResourceRequest): void {
  const { resource, subresource } = request
  if (subresource === '' || request.view !== undefined) return
  if (!Object.hasOwn(resource.rules.subresources, subresource))
    throw unsupportedSubresource(request)
}

export function unsupportedSubresource({ resource, subresource, verb }: ResourceRequest): ApiError {
  const plural = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
  return methodNotAllowed({ group: resource.group, plural }, verb)
}
