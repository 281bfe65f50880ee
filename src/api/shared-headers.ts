/**
 * Caches values that are derived from request headers. Over HTTP/2, all requests of a connection
 * that have the same headers share one frozen headers object. This object is the cache key.
 */
import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns a function like `read` that caches the result for a frozen headers object, as long as
 * that object exists.
 */
export function ofSharedHeaders<T>(
  read: (headers: IncomingHttpHeaders) => T,
): (headers: IncomingHttpHeaders) => T {
  const known = new WeakMap<IncomingHttpHeaders, { readonly result: T }>()
  return (headers) => {
    const found = known.get(headers)
    if (found !== undefined) return found.result
    const result = read(headers)
    if (Object.isFrozen(headers)) known.set(headers, { result })
    return result
  }
}
