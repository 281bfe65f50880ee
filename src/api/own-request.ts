/**
 * Requests that the server sends to itself, so that its own writes pass through the same handlers
 * as those of clients.
 */
import { inSlices, Slices } from '../lib/scheduling/slices.ts'
import { systemTime } from '../lib/time/timers.ts'
import { parseInSteps, parseJson } from './json-value.ts'
import type { Fields, Json } from './object.ts'
import type { ApiRequest, ApiResponse, Handler } from './request.ts'
import { systemUser } from './user.ts'

export type OwnRequest = {
  readonly method: string
  readonly path: string
  /**
   * The request body. A Buffer contains JSON: the callers serialize large objects in parts, before
   * they send the request.
   */
  readonly body?: Fields | Buffer
  /** Field manager. Defaults to kube-apiserver. */
  readonly manager?: string | undefined
  readonly query?: { readonly [name: string]: string }
  /** Accepted media type. Defaults to JSON. */
  readonly accept?: string
  /** Whether this is a PATCH with a JSON merge patch. */
  readonly isMergePatch?: boolean
  /** Whether this is a PATCH with a forced server-side apply. */
  readonly isApply?: boolean
  readonly signal: AbortSignal
}

/**
 * User agent for the server's own requests. It determines the field manager of the server's own
 * writes, as in kube-apiserver.
 */
const userAgent = 'kube-apiserver'

/**
 * Returns the object in the response. Returns undefined if the response has no body, or if the body
 * is generated asynchronously while it is sent.
 */
export function objectOf(response: ApiResponse): Json | undefined {
  const bytes = bytesOf(response)
  return bytes === undefined ? undefined : parseJson(bytes)
}

/** Maximum length of a response that is parsed at once, in one tick of the event loop. */
const SHORT_BYTES = 64 << 10

/**
 * Like `objectOf`, for lists and objects that can be large. They are parsed in parts, so that other
 * requests can be served in between.
 */
export async function objectInSlices(response: ApiResponse): Promise<Json | undefined> {
  const bytes = bytesOf(response)
  return bytes === undefined ? undefined : parseInSlices(bytes)
}

/**
 * Parses JSON that the server itself has serialized. Long JSON is parsed in parts, so that other
 * requests can be served in between.
 */
export async function parseInSlices(json: Buffer): Promise<Json> {
  if (json.length <= SHORT_BYTES) return parseJson(json)
  return inSlices(
    parseInSteps(json),
    new Slices(systemTime, { isBackground: true, isExpensive: true }),
  )
}

function bytesOf(response: ApiResponse): Buffer | undefined {
  if (!('body' in response)) return undefined
  const { body } = response
  if (Buffer.isBuffer(body)) return body
  if (!('chunks' in body)) return Buffer.concat(body)
  if (!(Symbol.iterator in body.chunks)) return undefined
  // Copy each chunk, because the next chunk uses the same memory.
  const copies: Buffer[] = []
  for (const chunk of body.chunks) copies.push(Buffer.concat(chunk))
  return Buffer.concat(copies)
}

export async function request(
  handle: Handler,
  {
    method,
    path,
    query = {},
    accept = 'application/json',
    body,
    manager,
    isMergePatch = false,
    isApply = false,
    signal,
  }: OwnRequest,
): Promise<ApiResponse> {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(body === undefined ? '' : JSON.stringify(body))
  const patchType = isApply ? 'application/apply-patch+yaml' : 'application/merge-patch+json'
  const type = isMergePatch || isApply ? patchType : 'application/json'
  const headers = { 'user-agent': userAgent, accept, 'content-type': type }
  const sent: ApiRequest = {
    method,
    path,
    query: new URLSearchParams({
      ...query,
      ...(manager === undefined ? {} : { fieldManager: manager }),
      ...(isApply ? { force: 'true' } : {}),
    }),
    headers,
    hasBody: bytes.length > 0,
    body: () => Promise.resolve(bytes),
    pipeBody: async (take) => take(bytes),
    signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
  return await handle(sent, systemUser)
}
