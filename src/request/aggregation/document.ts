/**
 * Fetches documents from remote servers that are small enough to store in memory: discovery and
 * OpenAPI.
 */
import type { Headers } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { identityHeaders } from './identity.ts'
import type { RemoteAnswer, RemoteRequest } from './remote-request.ts'

export type DocumentOptions = {
  readonly accept: string
  /**
   * ETag of the document that the caller already has. If the document has not changed since, the
   * response has status 304 and no body.
   */
  readonly etag?: string | undefined
  /**
   * User of the request. If absent, the request is made by this server, as a member of
   * system:masters.
   */
  readonly user?: User | undefined
  /** Timeout for the whole document. */
  readonly timeoutMs: number
  readonly bytesMax: number
  /** A signal that aborts the request before its timeout. */
  readonly signal?: AbortSignal | undefined
}

export type RemoteDocument = {
  readonly status: number
  readonly headers: Headers
  /** The Content-Type header. Empty if it is absent. */
  readonly type: string
  readonly etag: string
  readonly body: Buffer
}

export class TooLargeDocument extends Error {
  override readonly name = 'TooLargeDocument'
}

/**
 * User name that this server sends for its own requests to remote servers. As in kube-apiserver,
 * remote servers allow this user to read everything.
 */
export const aggregatorUser: User = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: ['system:masters'],
}

type Send = (request: RemoteRequest) => Promise<RemoteAnswer>

/**
 * Fetches a document. Redirects are not followed, but returned like any other response. Fails with
 * a TooLargeDocument, with an AbortError, or with the same errors as `send`.
 */
export async function fetchDocument(
  send: Send,
  path: string,
  { accept, etag = '', user = aggregatorUser, timeoutMs, bytesMax, signal }: DocumentOptions,
): Promise<RemoteDocument> {
  const limit = AbortSignal.timeout(timeoutMs)
  const ended = signal === undefined ? limit : AbortSignal.any([signal, limit])
  const sending = send({
    method: 'GET',
    path,
    headers: {
      accept,
      ...(etag === '' ? {} : { 'if-none-match': etag }),
      ...identityHeaders(user, { hasUid: false }),
    },
    pipeBody: undefined,
    signal: ended,
  })
  const { status, headers, body, widen } = await orAborted(sending, ended)
  widen?.()
  const collected = new GrowingBuffer()
  for (let parts = body.takeForGood(); parts !== undefined; parts = body.takeForGood()) {
    for (const part of parts) collected.append(part)
    if (collected.length > bytesMax) {
      body.close()
      throw new TooLargeDocument(`${path} is larger than ${bytesMax} bytes`)
    }
    if (parts.length === 0) await new Promise<void>((resolve) => body.onReady(resolve))
  }
  return {
    status,
    headers,
    type: first(headers['content-type']),
    etag: first(headers['etag']),
    body: collected.take(),
  }
}

const first = (value: Headers[string] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')
