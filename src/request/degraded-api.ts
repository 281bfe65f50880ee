/**
 * What a server answers that listens before it knows its roles, policies, webhooks and definitions:
 * those are encrypted, too, and their KMS plugin is away. Health is told, and reads of built-in
 * resources are answered as upstream does: to who may read without a role. All else is refused for
 * now: a policy that is not known would not be kept, and a kind that is not known would seem to be
 * gone.
 */
import { serviceUnavailable } from '../api/errors.ts'
import type { RequestInfo, ResourceInfo } from '../api/context.ts'
import type { ApiRequest, Handler } from '../api/request.ts'
import { readVerbs } from '../api/verbs.ts'
import { errorResponse } from './error-response.ts'
import { requestInfo } from './filters/request-info.ts'
import type { Log } from '../lib/telemetry/log.ts'

const MESSAGE =
  'the server cannot read its roles, policies, webhooks and definitions yet: /readyz tells whether a KMS plugin is away'

const openPaths = /^\/(livez|readyz|healthz|version|metrics)(\/|$)/

export type DegradedApiOptions = {
  /** That of a server that knows everything. */
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

  /** From now on everything is answered. */
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

/** Undefined: the path is none. */
function infoOf(request: ApiRequest): RequestInfo | undefined {
  try {
    return requestInfo(request)
  } catch {
    return undefined
  }
}
