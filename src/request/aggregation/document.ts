/** Documents about a remote server, which are small enough to be held: discovery, OpenAPI. */
import type { Headers } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { identityHeaders } from './identity.ts'
import type { RemoteAnswer, RemoteRequest } from './remote-request.ts'

export type DocumentOptions = {
  readonly accept: string
  /** Of what is known: an answer that says it is the same has status 304 and no body. */
  readonly etag?: string | undefined
  /** Who asks. Absent: this server, as a member of system:masters. */
  readonly user?: User | undefined
  /** How long it may take until all of it is here. */
  readonly timeoutMs: number
  readonly bytesMax: number
  /** Ends it before that. */
  readonly signal?: AbortSignal | undefined
}

export type RemoteDocument = {
  readonly status: number
  readonly headers: Headers
  /** The header; empty: none. */
  readonly type: string
  readonly etag: string
  readonly body: Buffer
}

export class TooLargeDocument extends Error {
  override readonly name = 'TooLargeDocument'
}

/**
 * Who this server is to remote ones, when it asks for itself. As upstream, any such server lets it
 * read what it serves.
 */
export const aggregatorUser: User = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: ['system:masters'],
}

type Send = (request: RemoteRequest) => Promise<RemoteAnswer>

/**
 * Redirects are not followed: they are answers like any other. Fails as `send` does, with an
 * AbortError or a TooLargeDocument.
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
      throw new TooLargeDocument(`${path} has more than ${bytesMax} bytes`)
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
