/**
 * pods/proxy, services/proxy and nodes/proxy: forward any request to the backend, and return the
 * response.
 */
import { badRequest, serviceUnavailable } from '../../../api/errors.ts'
import type { ApiRequest, ApiResponse, Headers } from '../../../api/request.ts'
import { answerHeaders, isUpgrade, requestHeaders } from '../../../api/proxied-headers.ts'
import { chunksOf, encodedPath, type ForwardOptions, forward } from './forward.ts'
import { admitConnect, proxyOptions } from './connect-options.ts'
import type { SubresourceHandler } from './handler.ts'
import { proxyTarget } from './proxy-target.ts'
import { tunnel } from './tunnel.ts'

export const proxy: SubresourceHandler = async (request, parts) => {
  const { http, name, resource } = request
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported')
  const own = `/${resource.plural}/${name}/proxy`
  const rest = http.path.slice(http.path.indexOf(own) + own.length)
  await admitConnect(request, proxyOptions(rest), parts.pods.access)
  const { base, ...target } = await proxyTarget(request, parts)
  if (rest === '' && ['GET', 'HEAD'].includes(http.method) && !isUpgrade(http))
    return toFolder(http)
  const url = new URL(`${base}/${encodedPath(rest.slice(1))}`)
  const to = {
    url,
    rawQuery: http.rawQuery ?? '',
    method: http.method,
    dial: parts.dial,
    ...target,
  }
  if (isUpgrade(http))
    return tunnel(http, { ...to, bytesPerSecondMax: parts.tunnelBytesPerSecondMax })
  const answer = await pass(http, to)
  const prefix = http.path.slice(0, http.path.length - rest.length)
  return {
    ...answer,
    headers: { ...answer.headers, ...locationBelow(prefix, url, answer.headers['location']) },
  }
}

/**
 * Rewrites the location of a redirect to a path on the backend, so that it stays below the path of
 * the proxy.
 */
function locationBelow(prefix: string, from: URL, location: Headers[string] | undefined): Headers {
  if (typeof location !== 'string' || !URL.canParse(location, from.href)) return {}
  const to = new URL(location, from)
  const isRelative = !location.startsWith('/') && !URL.canParse(location)
  if (to.host !== from.host || isRelative) return {}
  const path = to.pathname.startsWith(prefix) ? to.pathname : `${encodeURI(prefix)}${to.pathname}`
  return { location: `${path}${to.search}${to.hash}` }
}

/**
 * Redirects to the same path with a trailing slash. Without the slash, relative links in the
 * response would not stay below the path of the proxy.
 */
function toFolder({ path, rawQuery = '' }: ApiRequest): ApiResponse {
  const location = `${encodeURI(path)}/${rawQuery === '' ? '' : `?${rawQuery}`}`
  return { status: 301, headers: { location }, body: Buffer.alloc(0) }
}

async function pass(
  http: ApiRequest,
  to: Pick<ForwardOptions, 'url' | 'address' | 'rawQuery' | 'method' | 'kubelet' | 'dial'>,
): Promise<ApiResponse> {
  const headers = { ...requestHeaders(http), 'x-forwarded-uri': encodeURI(http.path) }
  const pipeBody: ApiRequest['pipeBody'] | undefined = http.hasBody
    ? (take) => http.pipeBody(take)
    : undefined
  const sent = forward({ ...to, headers, signal: http.signal }, pipeBody)
  const answer = await sent.catch((error: Error) => {
    throw serviceUnavailable(`error trying to reach service: ${error.message}`, error)
  })
  return {
    status: answer.statusCode ?? 502,
    headers: answerHeaders(answer.headers),
    stream: chunksOf(answer),
  }
}
