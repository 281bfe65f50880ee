/** A request of the server to itself, so that what its own parts write goes the way of every other write. */
import type { Fields, Json } from './object.ts'
import type { ApiRequest, ApiResponse } from './request.ts'
import { systemUser, type User } from './user.ts'

/** Answers requests, taking them for those of the given user. */
export type Handle = (request: ApiRequest, user: User) => Promise<ApiResponse>

export type OwnRequest = {
  readonly method: string
  readonly path: string
  readonly body?: Fields
  /** Who owns the fields that are written; kube-apiserver if absent. */
  readonly manager?: string | undefined
  /** A PATCH whose body is merged into what is there. */
  readonly isMergePatch?: boolean
  readonly signal: AbortSignal
}

/** The manager of the fields that the server writes itself, as upstream names it. */
const userAgent = 'kube-apiserver'

/** The object that was answered; undefined: the answer was something else. */
export function objectOf(response: ApiResponse): Json | undefined {
  if (!('body' in response)) return undefined
  const { body } = response
  const bytes = Buffer.isBuffer(body) ? body : Array.isArray(body) ? Buffer.concat(body) : undefined
  return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8'))
}

export function request(
  handle: Handle,
  { method, path, body, manager, isMergePatch = false, signal }: OwnRequest,
): Promise<ApiResponse> {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
  const type = isMergePatch ? 'application/merge-patch+json' : 'application/json'
  const headers = { 'user-agent': userAgent, accept: 'application/json', 'content-type': type }
  const sent: ApiRequest = {
    method,
    path,
    query: new URLSearchParams(manager === undefined ? {} : { fieldManager: manager }),
    headers,
    body: () => Promise.resolve(bytes),
    signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
  return handle(sent, systemUser)
}
