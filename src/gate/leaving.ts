/** Requests that come while the server stops, with --shutdown-send-retry-after: their clients are told to come again, elsewhere. */
import { shuttingDown, type TextError } from '../api/errors.ts'
import type { ApiRequest } from '../api/request.ts'

/** Whoever looks after the server sees it to its end, as with kube-apiserver. */
const exempt = /^\/(?:readyz|livez|healthz|metrics)/

/** Undefined: the request is answered. */
export const refusalOf = ({ path }: Pick<ApiRequest, 'path'>): TextError | undefined =>
  exempt.test(path) ? undefined : shuttingDown()
