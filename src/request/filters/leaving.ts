/**
 * Requests that come while the server stops, with --shutdown-send-retry-after: their clients are
 * told to come again, elsewhere.
 */
import { shuttingDown, type TextError } from '../../api/errors.ts'
import { type ApiRequest, firstHeader } from '../../api/request.ts'

/**
 * Whoever looks after the server sees it to its end, and other API servers are served, as with
 * kube-apiserver.
 */
const exemptPaths = /^\/(?:readyz|livez|healthz|metrics)/
const exemptAgent = 'kube-apiserver/'

/** Undefined: the request is answered. */
export const refusalOf = ({
  path,
  headers,
}: Pick<ApiRequest, 'path' | 'headers'>): TextError | undefined =>
  exemptPaths.test(path) || firstHeader(headers, 'user-agent')?.startsWith(exemptAgent) === true
    ? undefined
    : shuttingDown()
