/** pods/proxy, services/proxy and nodes/proxy: any request, handed to who is behind it, and the answer handed back. */
import { badRequest, serviceUnavailable } from '../../api/errors.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { chunksOf, encodedPath, forward, isUpgrade, passedHeaders } from './forward.ts'
import { admit, type Part } from './part.ts'
import { proxyTarget } from './proxy-target.ts'
import { tunnel } from './tunnel.ts'

export const proxy: Part = async (request, parts) => {
  const { http, name, resource } = request
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported')
  await admit(request, undefined, { operation: 'CONNECT', isDryRun: false, access: parts.pods.access })
  const target = await proxyTarget(request, parts)
  const own = `/${resource.plural}/${name}/proxy`
  const rest = http.path.slice(http.path.indexOf(own) + own.length)
  if (rest === '' && ['GET', 'HEAD'].includes(http.method) && !isUpgrade(http)) return toFolder(http)
  const url = new URL(`${target}/${encodedPath(rest.split('/').slice(1))}`)
  url.search = http.query.toString()
  if (isUpgrade(http)) return tunnel(url, http, http.method)
  return pass(url, http)
}

/** Relative links in what is behind would lead past it otherwise. */
function toFolder({ path, query }: ApiRequest): ApiResponse {
  const location = `${encodeURI(path)}/${query.size === 0 ? '' : `?${query.toString()}`}`
  return { status: 301, headers: { location }, body: Buffer.alloc(0) }
}

async function pass(url: URL, http: ApiRequest): Promise<ApiResponse> {
  const headers = { ...passedHeaders(http.headers), 'x-forwarded-for': http.remoteAddress }
  const { method, signal } = http
  const body = await http.body()
  const answer = await forward({ url, method, headers, body, signal }).catch((error: Error) => {
    throw serviceUnavailable(`error trying to reach service: ${error.message}`, error)
  })
  return { status: answer.statusCode ?? 502, headers: passedHeaders(answer.headers), stream: chunksOf(answer) }
}
