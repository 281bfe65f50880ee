/**
 * Cross-origin requests from browsers (https://fetch.spec.whatwg.org/#http-cors-protocol), for the
 * origins that the operator allows.
 */
import { ORIGIN_LENGTH_MAX } from '../../api/origin.ts'
import { type ApiRequest, firstHeader, type Headers } from '../../api/request.ts'
import type { Pattern } from '../../objects/cel/regex.ts'

/** Allowed methods and headers, as in kube-apiserver. They do not depend on the request. */
const permissions: Headers = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
}

export class Cors {
  readonly #patterns: readonly Pattern[]

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns
  }

  /**
   * Returns additional headers for the response, or undefined if the request does not come from an
   * allowed origin.
   */
  headersFor({ headers }: Pick<ApiRequest, 'headers'>): Headers | undefined {
    const origin = firstHeader(headers, 'origin')
    if (origin === undefined || !this.#isAllowed(origin)) return undefined
    return { 'access-control-allow-origin': origin, ...permissions }
  }

  /**
   * Whether a pattern matches the origin. The configuration limits the total cost of matching all
   * patterns against an origin of the maximum length.
   */
  #isAllowed(origin: string): boolean {
    return (
      origin.length <= ORIGIN_LENGTH_MAX && this.#patterns.some((pattern) => pattern.test(origin))
    )
  }
}
