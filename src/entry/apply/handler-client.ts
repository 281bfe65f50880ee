/** An `ApiClient` for a server in this process. */
import { parseJson } from '../../api/json-value.ts'
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { printFast } from '../../objects/codec/json.ts'
import type { ApiClient, ApiClientRequest } from './api-client.ts'

/** Returns a client that calls the handler of a server, without a connection. */
export const handlerClient =
  (handle: Handler, user: User): ApiClient =>
  async (request) => {
    const response = await handle(toApiRequest(request), user)
    if (!('body' in response)) throw new Error(`${request.path} has a response that does not end`)
    return { status: response.status, body: parseJson(await bytesOf(response)) }
  }

function toApiRequest({ method, path, body, contentType }: ApiClientRequest): ApiRequest {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(printFast(body))
  const { pathname, search, searchParams } = new URL(path, 'https://cluster')
  return {
    method,
    path: decodeURIComponent(pathname),
    query: searchParams,
    rawQuery: search.slice(1),
    headers: {
      'user-agent': 'keelson-apply',
      accept: 'application/json',
      'content-type': contentType ?? 'application/json',
    },
    hasBody: bytes.length > 0,
    body: async () => bytes,
    pipeBody: async (take) => take(bytes),
    signal: new AbortController().signal,
    remoteAddress: '127.0.0.1',
    peerCertificate: () => undefined,
  }
}

async function bytesOf({ body }: Extract<ApiResponse, { body: unknown }>): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body
  if (!('chunks' in body)) return Buffer.concat(body)
  const copies: Buffer[] = []
  // Copy each chunk, because its memory is reused for the next chunk.
  for await (const chunk of body.chunks) copies.push(Buffer.concat(chunk))
  return Buffer.concat(copies)
}
