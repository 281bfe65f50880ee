/** Cross-origin requests of browsers (https://fetch.spec.whatwg.org/#http-cors-protocol), for the origins that the operator allows. */
import { type ApiRequest, firstHeader, type Headers } from '../api/request.ts'
import { type Pattern, stepsOf } from '../cel/regex.ts'

/**
 * Characters times instructions of all patterns together, about 1 ms as a rule and 20 ms at worst. An origin is a scheme, a host of at most
 * 253 characters and a port; one that would take longer is not allowed.
 */
const STEPS_MAX = 50_000

/** As upstream, whatever the request asks for. */
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

  /** What an answer has besides; undefined: the request is not from an origin that is allowed. */
  headersFor({ headers }: Pick<ApiRequest, 'headers'>): Headers | undefined {
    const origin = firstHeader(headers, 'origin')
    if (origin === undefined || !this.#isAllowed(origin)) return undefined
    return { 'access-control-allow-origin': origin, ...permissions }
  }

  #isAllowed(origin: string): boolean {
    let steps = 0
    for (const pattern of this.#patterns) {
      steps += stepsOf(pattern, origin)
      if (steps > STEPS_MAX) return false
      if (pattern.test(origin)) return true
    }
    return false
  }
}
