/**
 * Wraps the representation of a traced request so that serialization has a span. For a list, the
 * span covers only the beginning of the serialization, because the rest is serialized while the
 * list is sent.
 */
import { type Span, within } from '../../../api/span.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Body, Representation } from './representation.ts'

export function traced(
  shown: Representation,
  parent: Span,
  { context, http }: ResourceRequest,
): Representation {
  const begin = (): Span =>
    parent.child('SerializeObject', {
      attributes: {
        'audit-id': context.auditId,
        mediaType: String(shown.headers['content-type']),
        method: http.method,
        protocol: http.protocol ?? 'HTTP/1.1',
        url: http.path,
      },
    })
  const printing =
    <T extends unknown[]>(print: (...given: T) => Body) =>
    (...given: T): Body => {
      const span = once('span of a printed object', begin)
      const body = print(...given)
      if (Buffer.isBuffer(body)) span.end()
      return Buffer.isBuffer(body) ? body : within(span, () => body)
    }
  return {
    headers: shown.headers,
    item: printing(shown.item),
    object: printing(shown.object),
    written: printing(shown.written),
    list: (items, metadata) => within(begin(), () => shown.list(items, metadata)),
  }
}
