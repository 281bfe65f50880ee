/**
 * Serves a degraded API while the server cannot read its roles, policies, webhooks and custom
 * resource definitions. They can be encrypted by a KMS plugin that is down.
 *
 * Health checks are served. Reads of built-in resources are authorized, but only users who need no
 * role have access. All other requests are rejected: a policy that is not loaded would not be
 * enforced, and a custom resource that is not loaded would seem to be deleted.
 */
import { serviceUnavailable } from '../api/errors.ts'
import type { RequestInfo, ResourceInfo } from '../api/context.ts'
import type { ApiRequest, Handler } from '../api/request.ts'
import { readVerbs } from '../api/verbs.ts'
import { errorResponse } from './error-response.ts'
import { requestInfo } from './filters/request-info.ts'
import type { Log } from '../lib/telemetry/log.ts'

const MESSAGE =
  'the server cannot read its roles, policies, webhooks and definitions yet: check /readyz for a KMS plugin that is unavailable'

const openPaths = /^\/(livez|readyz|healthz|version|metrics)(\/|$)/

export type DegradedApiOptions = {
  /** Handler for the complete API. */
  readonly handle: Handler
  readonly isServed: (info: ResourceInfo) => boolean
  readonly newAuditId: () => string
  readonly log: Log
}

export class DegradedApi {
  readonly #options: DegradedApiOptions
  #isReady = false

  constructor(options: DegradedApiOptions) {
    this.#options = options
  }

  readonly handle: Handler = (request) => {
    const { handle, newAuditId, log } = this.#options
    if (this.#isReady || this.#mayPass(request)) return handle(request)
    const refused = serviceUnavailable(MESSAGE)
    const auditId = newAuditId()
    const response = errorResponse(refused, auditId, { request, log, isRefusal: true })
    return Promise.resolve({
      ...response,
      headers: { ...response.headers, 'audit-id': auditId, 'retry-after': '1' },
    })
  }

  /** Switches to the complete API. */
  open(): void {
    this.#isReady = true
  }

  #mayPass(request: ApiRequest): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const info = infoOf(request)
    if (info === undefined) return false
    if (info.kind === 'path') return openPaths.test(info.path)
    return readVerbs.has(info.verb) && info.subresource === '' && this.#options.isServed(info)
  }
}

/** Parses the path and the method of a request. Returns undefined if the path is invalid. */
function infoOf(request: ApiRequest): RequestInfo | undefined {
  try {
    return requestInfo(request)
  } catch {
    return undefined
  }
}
