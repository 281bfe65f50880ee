/** Sends one POST of JSON, or a GET, on a kept-alive connection and collects the answer. */
import { type Agent, request as requestPlain } from 'node:http'
import { type Agent as TlsAgent, request as requestTls, type RequestOptions } from 'node:https'
import type { ReceivedAnswers } from './received.ts'

export type Answer = {
  readonly status: number
  /** The Content-Type header. */
  readonly type: string
  readonly text: string
  /** The Retry-After header in seconds; 0: none. */
  readonly retryAfterSec: number
}

export type Call = {
  readonly agent: Agent | TlsAgent
  readonly isTls: boolean
  readonly target: Pick<RequestOptions, 'host' | 'port' | 'path' | 'servername'>
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Undefined: the call is a GET; else it is a POST. */
  readonly body: string | undefined
  readonly signal: AbortSignal
  readonly received: ReceivedAnswers
  /** Undefined: the limit of `received`. */
  readonly answerBytesMax?: number | undefined
}

/** Why there is no answer: an error of a socket, of TLS or of a signal. */
export type FailedCall = Error & {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  /** That could not be resolved. */
  readonly hostname?: string
}

/**
 * Fails with a FailedCall. The server may have closed a kept-alive connection just when it was reused: then the call is sent again, until
 * it fails on a new one.
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

function sendOnce({ agent, isTls, target, headers, body, signal, received, answerBytesMax }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false
    const fail = (error: FailedCall): void => {
      const isLost = sent.reusedSocket && !isAnswered && lostCodes.has(error.code ?? '')
      reject(isLost ? new LostConnection() : error)
    }
    const all = { ...(body === undefined ? acceptHeader : bodyHeaders(body)), ...headers }
    const request = isTls ? requestTls : requestPlain
    const sent = request(
      { ...target, method: body === undefined ? 'GET' : 'POST', agent, signal, headers: all },
      (response) => {
        isAnswered = true
        const collected = received.begin(() => sent.destroy(new Error('the response is too large')), answerBytesMax)
        response.on('data', (chunk: Buffer) => collected.append(chunk))
        response.on('close', () => collected.close())
        response.on('error', fail)
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          const type = answered['content-type'] ?? ''
          const retryAfterSec = /^\d{1,9}$/.test(answered['retry-after'] ?? '') ? Number(answered['retry-after']) : 0
          resolve({ status, type, text: collected.take().toString('utf8'), retryAfterSec })
        })
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('context deadline exceeded')))
    sent.on('error', fail)
    // Node tells of it only when there is a connection, so the call would wait for those before it.
    signal.addEventListener('abort', () => {
      if (sent.socket === null) reject(new DOMException('the call was aborted', 'AbortError'))
    })
    sent.end(body)
  })
}

const acceptHeader = { accept: 'application/json, */*' }
const bodyHeaders = (body: string) => ({
  ...acceptHeader,
  'content-type': 'application/json',
  'content-length': `${Buffer.byteLength(body)}`,
})

/** A reused connection was lost before there was an answer. */
class LostConnection extends Error {}

const lostCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

const untrusted: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Why a call failed, with the messages of Go's client. */
export function reasonOf(error: FailedCall): string {
  const { code = '', name, address, port } = error
  if (untrusted.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (name === 'AbortError') return 'context deadline exceeded'
  if (code === 'ECONNREFUSED' && address !== undefined) {
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`
  }
  if (code === 'ECONNRESET' && error.message === 'socket hang up') return 'EOF'
  if (code === 'ENOTFOUND' && error.hostname !== undefined) return `dial tcp: lookup ${error.hostname}: no such host`
  return error.message
}
