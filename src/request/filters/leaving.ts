/**
 * Rejects requests that arrive during shutdown, if --shutdown-send-retry-after is set. The response
 * asks clients to retry, so that they reach another server.
 */
import { shuttingDown, type TextError } from '../../api/errors.ts'
import { type ApiRequest, firstHeader } from '../../api/request.ts'

/**
 * Paths that are served until the end of the shutdown, so that monitoring can observe it. As in
 * kube-apiserver, requests from other API servers are also served.
 */
const exemptPaths = /^\/(?:readyz|livez|healthz|metrics)/
const exemptAgent = 'kube-apiserver/'

/** Returns the error for a rejected request, or undefined if the request is served. */
export const refusalOf = ({
  path,
  headers,
}: Pick<ApiRequest, 'path' | 'headers'>): TextError | undefined =>
  exemptPaths.test(path) || firstHeader(headers, 'user-agent')?.startsWith(exemptAgent) === true
    ? undefined
    : shuttingDown()
