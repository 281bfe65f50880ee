/** Attributes of a request's spans, with kube-apiserver's attribute names. */
import type { SpanAttributes } from '../../api/span.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { resourcePrefix } from '../../storage/keys.ts'

/** Returns the key of the request's object, without the root prefix. */
export function keyAttributes({
  resource,
  namespace,
  name,
  context,
}: ResourceRequest): SpanAttributes {
  const path = [resourcePrefix(resource), ...(namespace === '' ? [] : [namespace]), name]
  return { 'audit-id': context.auditId, key: `/${path.join('/')}` }
}
