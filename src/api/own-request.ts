/** A request of the server to itself, so that what its own parts write goes the way of every other write. */
import { parseJson } from './json-value.ts'
import type { Fields, Json } from './object.ts'
import type { ApiRequest, ApiResponse } from './request.ts'
import { systemUser, type User } from './user.ts'

/** Answers requests, taking them for those of the given user. */
export type HandleAs = (request: ApiRequest, user: User) => Promise<ApiResponse>

export type OwnRequest = {
  readonly method: string
  readonly path: string
  readonly body?: Fields
  /** Who owns the fields that are written; kube-apiserver if absent. */
  readonly manager?: string | undefined
  readonly query?: { readonly [name: string]: string }
  /** A PATCH whose body is merged into what is there. */
  readonly isMergePatch?: boolean
  /** A PATCH that applies its body, whoever else owns the fields. */
  readonly isApply?: boolean
  readonly signal: AbortSignal
}

/** The manager of the fields that the server writes itself, as upstream names it. */
const userAgent = 'kube-apiserver'

/** The object that was answered; undefined: the answer was something else. */
export function objectOf(response: ApiResponse): Json | undefined {
  if (!('body' in response)) return undefined
  const bytes = bytesOf(response.body)
  return bytes === undefined ? undefined : parseJson(bytes)
}

function bytesOf(body: Extract<ApiResponse, { body: unknown }>['body']): Buffer | undefined {
  if (Buffer.isBuffer(body)) return body
  if (!('chunks' in body)) return Buffer.concat(body)
  if (!(Symbol.iterator in body.chunks)) return undefined
  // A chunk's memory is used again for the next one.
  const copies: Buffer[] = []
  for (const chunk of body.chunks) copies.push(Buffer.concat(chunk))
  return Buffer.concat(copies)
}

export async function request(
  handle: HandleAs,
  { method, path, query = {}, body, manager, isMergePatch = false, isApply = false, signal }: OwnRequest,
): Promise<ApiResponse> {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
  const patchType = isApply ? 'application/apply-patch+yaml' : 'application/merge-patch+json'
  const type = isMergePatch || isApply ? patchType : 'application/json'
  const headers = { 'user-agent': userAgent, accept: 'application/json', 'content-type': type }
  const sent: ApiRequest = {
    method,
    path,
    query: new URLSearchParams({
      ...query,
      ...(manager === undefined ? {} : { fieldManager: manager }),
      ...(isApply ? { force: 'true' } : {}),
    }),
    headers,
    body: () => Promise.resolve(bytes),
    pipeBody: async (take) => take(bytes),
    signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
  const response = await handle(sent, systemUser)
  response.place?.leave()
  return response
}
