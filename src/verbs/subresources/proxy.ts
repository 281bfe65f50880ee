/** pods/proxy, services/proxy and nodes/proxy: any request, handed to who is behind it, and the answer handed back. */
import { badRequest, serviceUnavailable } from '../../api/errors.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { chunksOf, encodedPath, type Forwarded, forward, isUpgrade, passedHeaders } from './forward.ts'
import { admit, type Part } from './part.ts'
import { proxyTarget } from './proxy-target.ts'
import { tunnel } from './tunnel.ts'

export const proxy: Part = async (request, parts) => {
  const { http, name, resource } = request
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported')
  await admit(request, undefined, { operation: 'CONNECT', isDryRun: false, access: parts.pods.access })
  const { base, ...kubelet } = await proxyTarget(request, parts)
  const own = `/${resource.plural}/${name}/proxy`
  const rest = http.path.slice(http.path.indexOf(own) + own.length)
  if (rest === '' && ['GET', 'HEAD'].includes(http.method) && !isUpgrade(http)) return toFolder(http)
  const url = new URL(`${base}/${encodedPath(rest.split('/').slice(1))}`)
  url.search = http.query.toString()
  const to = { url, method: http.method, ...kubelet }
  return isUpgrade(http) ? tunnel(http, to) : pass(http, to)
}

/** Relative links in what is behind would lead past it otherwise. */
function toFolder({ path, query }: ApiRequest): ApiResponse {
  const location = `${encodeURI(path)}/${query.size === 0 ? '' : `?${query.toString()}`}`
  return { status: 301, headers: { location }, body: Buffer.alloc(0) }
}

async function pass(http: ApiRequest, to: Pick<Forwarded, 'url' | 'method' | 'kubelet'>): Promise<ApiResponse> {
  const headers = { ...passedHeaders(http.headers), 'x-forwarded-for': http.remoteAddress }
  const body = await http.body()
  const answer = await forward({ ...to, headers, body, signal: http.signal }).catch((error: Error) => {
    throw serviceUnavailable(`error trying to reach service: ${error.message}`, error)
  })
  return { status: answer.statusCode ?? 502, headers: passedHeaders(answer.headers), stream: chunksOf(answer) }
}
