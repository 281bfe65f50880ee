/** Headers that all responses have: security, caching, flow control, warnings and CORS. */
import type { ApiResponse, Headers } from '../../api/request.ts'
import type { Flow } from '../flow/flow-control.ts'
import type { RequestLifecycle } from '../lifecycle.ts'
import { warningHeaders } from './warnings.ts'

const notCached: Headers = { 'cache-control': 'no-cache, private' }

export class ResponseHeaders {
  readonly #constant: Headers
  /**
   * Common headers, with a placeholder for the audit ID. Copying one object is many times faster
   * than merging several objects.
   */
  readonly withoutFlow: Headers
  readonly #ofFlow = new WeakMap<Flow, Headers>()

  /** `constant` contains the headers that do not depend on the request. */
  constructor(constant: Headers) {
    this.#constant = constant
    this.withoutFlow = { 'audit-id': '', ...constant, ...notCached }
  }

  of(life: RequestLifecycle, response: ApiResponse): Headers {
    const { info, corsHeaders } = life
    // As in kube-apiserver, the response for a path that cannot be parsed has no cache-control.
    if (info === undefined) {
      return { 'audit-id': life.auditId, ...this.#constant, ...response.headers }
    }
    const own = this.#own(life, response)
    return corsHeaders === undefined ? own : { ...own, ...corsHeaders }
  }

  #own({ auditId: id, flow, contextIfAny }: RequestLifecycle, response: ApiResponse): Headers {
    const common = this.#common(flow)
    const { warnings = [], ownWarnings = [] } = contextIfAny ?? {}
    if (warnings.length === 0 && ownWarnings.length === 0) {
      return { ...common, 'audit-id': id, ...response.headers }
    }
    const warning = [...warningHeaders(warnings), ...warningHeaders(ownWarnings, 'keelson')]
    const { warning: others = [], ...headers } = response.headers
    return { ...common, 'audit-id': id, ...headers, warning: warning.concat(others) }
  }

  #common(flow: Flow | undefined): Headers {
    if (flow === undefined) return this.withoutFlow
    const known = this.#ofFlow.get(flow)
    if (known !== undefined) return known
    const headers = { ...this.withoutFlow, ...flow.headers }
    this.#ofFlow.set(flow, headers)
    return headers
  }
}
