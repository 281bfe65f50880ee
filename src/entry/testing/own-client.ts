/**
 * Sends requests of the test itself directly to the handler, without a connection and without
 * faults.
 */
import { parseJson } from '../../api/json-value.ts'
import type { Json } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { authenticatedGroup, mastersGroup, type User } from '../../api/user.ts'
import { printFast } from '../../objects/codec/json.ts'
import { adminName, type TestUser } from './credentials.ts'
import { discard } from './discard.ts'
import type { History } from './history.ts'

export type TestRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with its query: `/api/v1/pods?limit=5`. */
  readonly path: string
  /** The body, which is sent as JSON. */
  readonly body?: unknown
  /** The content type of the body. The default is JSON, or a JSON merge patch for PATCH. */
  readonly contentType?: string
  /** The user who sends the request. The default is a member of system:masters. */
  readonly user?: TestUser
}

export type TestResponse<T> = { readonly status: number; readonly body: T }

/**
 * Sends a request. Fails only if the response does not end, for example if the request is a watch.
 * Parses the response body as JSON, without checking that it has the type `T`.
 */
export async function ask<T>(
  handle: Handler,
  request: TestRequest,
  history: History,
): Promise<TestResponse<T>> {
  const response = await handle(history.ofTest(toApiRequest(request)), userOf(request.user))
  if (!('body' in response)) {
    discard(response)
    throw new Error(`${request.path} has a response that does not end: use a client`)
  }
  const bytes = await bytesOf(response)
  const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
  const body: unknown = isJson ? parseJson(bytes) : bytes.toString()
  // The caller knows the type of the body. As in any JSON client, the type is not checked.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { status: response.status, body: body as T }
}

const userOf = (
  { name, groups = [] }: TestUser = { name: adminName, groups: [mastersGroup] },
): User => ({
  name,
  uid: '',
  groups: [...groups, authenticatedGroup],
})

function toApiRequest({ method = 'GET', path, body, contentType }: TestRequest): ApiRequest {
  // The caller's body is sent as it is, and the server checks it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(printFast(body as Json))
  const { pathname, search, searchParams } = new URL(path, 'https://cluster')
  const type =
    contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  return {
    method,
    path: decodeURIComponent(pathname),
    query: searchParams,
    rawQuery: search.slice(1),
    headers: { 'user-agent': 'keelson-testing', accept: 'application/json', 'content-type': type },
    hasBody: bytes.length > 0,
    body: async () => bytes,
    pipeBody: async (take) => take(bytes),
    signal: new AbortController().signal,
    remoteAddress: '',
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
