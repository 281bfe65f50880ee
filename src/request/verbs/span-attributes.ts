/** What spans of a request say about it, with upstream's names. */
import type { SpanAttributes } from '../../api/span.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { resourcePrefix } from '../../storage/keys.ts'

/** The key of its object, without what all keys begin with. */
export function keyAttributes({
  resource,
  namespace,
  name,
  context,
}: ResourceRequest): SpanAttributes {
  const path = [resourcePrefix(resource), ...(namespace === '' ? [] : [namespace]), name]
  return { 'audit-id': context.auditId, key: `/${path.join('/')}` }
}
