/** Sends one POST with JSON, or one GET, on a keep-alive connection, and collects the response. */
import { type Agent, request as requestPlain } from 'node:http'
import { type Agent as TlsAgent, request as requestTls } from 'node:https'
import { isLostBy } from '../../lib/net/dial-error.ts'
import { type CertificateError, certificateReasonOf } from './certificate-reason.ts'
import type { ReceivedAnswers, TooLarge } from './received.ts'

export type Answer = {
  readonly status: number
  /** The Content-Type header. */
  readonly type: string
  readonly text: string
  /** The Retry-After header in seconds, or 0 if there is none. */
  readonly retryAfterSec: number
}

/**
 * The address of the server. `servername` is the name in its certificate, if it differs from the
 * host.
 */
type Target = {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly servername?: string
}

export type Call = {
  readonly agent: Agent | TlsAgent
  readonly isTls: boolean
  readonly target: Target
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** The body of a POST. If undefined, the call is a GET. */
  readonly body: string | undefined
  readonly signal: AbortSignal
  readonly received: ReceivedAnswers
  /**
   * Maximum size of the response. By default, the maximum that `received` defines for all
   * responses.
   */
  readonly answerBytesMax?: number | undefined
}

/**
 * Thrown if the connection closes before the response is complete, or if the length of the response
 * differs from its content-length (RFC 9112, section 8; RFC 9113, section 8.1.1). The message is
 * the same as kube-apiserver's.
 */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'

  constructor() {
    super(
      'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
    )
  }
}

/** The error of a call that got no response, for example because of the socket, TLS or an abort. */
export type FailedCall = Error &
  CertificateError & {
    readonly code?: string
    readonly address?: string
    readonly port?: number
    /** The host name that could not be resolved. */
    readonly hostname?: string
  }

/** Thrown if a limit of this server ended the call. The called server may be healthy. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
  readonly why: TooLarge

  constructor(why: TooLarge) {
    super(
      why === 'answer'
        ? 'the response is too large'
        : 'too many large responses are being received',
    )
    this.why = why
  }
}

/**
 * Sends a call. Rejects with a FailedCall if there is no complete response. If the server closes a
 * keep-alive connection just when it is reused, the call is sent again. On a new connection, the
 * call fails.
 */
export async function send(call: Call): Promise<Answer> {
  for (;;) {
    try {
      return await sendOnce(call)
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error
    }
  }
}

function sendOnce({
  agent,
  isTls,
  target,
  headers,
  body,
  signal,
  received,
  answerBytesMax,
}: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false
    const fail = (error: FailedCall): void => {
      const isLost = sent.reusedSocket && !isAnswered && isLostBy(error)
      reject(isLost ? new LostConnection() : error)
    }
    const all = { ...(body === undefined ? acceptHeader : bodyHeaders(body)), ...headers }
    const request = isTls ? requestTls : requestPlain
    const sent = request(
      { ...target, method: body === undefined ? 'GET' : 'POST', agent, signal, headers: all },
      (response) => {
        isAnswered = true
        const collected = received.begin(
          (why) => sent.destroy(new TooLargeError(why)),
          answerBytesMax,
        )
        response.on('data', (chunk: Buffer) => collected.append(chunk))
        response.on('close', () => collected.close())
        // Node reports ECONNRESET if the connection closes before the end of the body, even if this
        // side closed it.
        response.on('error', (error: FailedCall) => {
          if (signal.aborted) fail(callAborted())
          else fail(error.code === 'ECONNRESET' ? new BrokenAnswer() : error)
        })
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          const { 'content-type': type = '', 'retry-after': retryAfter = '' } = answered
          resolve(answerOf({ status, type, retryAfter }, collected.take()))
        })
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('context deadline exceeded')))
    sent.on('error', fail)
    // Node reports an abort only after the request has got a connection. With this listener, the
    // abort of a call that still waits for a connection takes effect immediately.
    const onAbort = (): void => {
      if (sent.socket === null) reject(callAborted())
    }
    signal.addEventListener('abort', onAbort)
    // If the server switches to another protocol, although this client never requests one, the call
    // must fail with an error. Without a listener, Node would close the connection without an
    // error.
    sent.once('upgrade', (_response, socket) => {
      socket.on('error', () => undefined).destroy()
      fail(new Error('unexpected response: 101 Switching Protocols'))
    })
    // The request has closed, so no response can arrive. Remove the abort listener: it refers to
    // the body, and the signal of a timeout would keep both in memory until the timeout.
    sent.once('close', () => {
      signal.removeEventListener('abort', onAbort)
      if (!isAnswered) fail(signal.aborted ? callAborted() : new BrokenAnswer())
    })
    sent.end(body)
  })
}

const callAborted = (): Error => new DOMException('the call was aborted', 'AbortError')

type Head = { readonly status: number; readonly type: string; readonly retryAfter: string }

export const answerOf = ({ status, type, retryAfter }: Head, body: Buffer): Answer => ({
  status,
  type,
  text: body.toString('utf8'),
  retryAfterSec: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : 0,
})

type BodyHeaders = {
  readonly accept: string
  readonly 'content-type': string
  readonly 'content-length': string
}

const acceptHeader = { accept: 'application/json, */*' }
export const bodyHeaders = (body: string): BodyHeaders => ({
  ...acceptHeader,
  'content-type': 'application/json',
  'content-length': `${Buffer.byteLength(body)}`,
})

/**
 * Thrown if a reused connection was lost before a response arrived. The call must be sent again.
 */
export class LostConnection extends Error {}

/**
 * Thrown if the peer has certainly not started to process the call. The call can then be sent again
 * even if it has side effects.
 */
export class UnprocessedCall extends LostConnection {}

/** Returns why a call failed, with the messages of Go's client. */
export function reasonOf(error: FailedCall): string {
  const { code = '', name, address, port } = error
  const refused = certificateReasonOf(error)
  if (refused !== undefined) return refused
  if (name === 'AbortError') return 'context deadline exceeded'
  if (code === 'ECONNREFUSED' && address !== undefined) {
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`
  }
  if (code === 'ECONNRESET' && error.message === 'socket hang up') return 'EOF'
  if (code === 'ENOTFOUND' && error.hostname !== undefined)
    return `dial tcp: lookup ${error.hostname}: no such host`
  return error.message
}
