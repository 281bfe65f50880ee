/** Sends a request to a remote server over HTTP/1.1. */
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as open,
} from 'node:http'
import type { Headers } from '../../api/request.ts'
import type { Blocks } from '../../lib/bytes/blocks.ts'
import { isLostBy } from '../../lib/net/dial-error.ts'
import { headerLines } from '../../lib/net/header-lines.ts'
import { LostConnection } from '../../net/outbound/send.ts'
import { AnswerBody } from './answer-body.ts'
import { type RemoteAnswer, type RemoteRequest, requestAborted } from './remote-request.ts'

/**
 * Sends the request. Fails with a FailedCall, or with a LostConnection if the request can be sent
 * again.
 */
export function sendHttp1(
  request: RemoteRequest,
  authority: string,
  { agent, blocks }: { readonly agent: Agent; readonly blocks: Blocks },
): Promise<RemoteAnswer> {
  const { method, path, headers, signal, pipeBody } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(requestAborted())
    const sent = open({ method, path, agent, headers: { ...outgoing(headers), host: authority } })
    let hasAnswer = false
    const onAbort = (): void => {
      reject(requestAborted())
      sent.destroy(requestAborted())
    }
    signal.addEventListener('abort', onAbort)
    sent.once('close', () => {
      signal.removeEventListener('abort', onAbort)
      reject(new Error('EOF'))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isLost = sent.reusedSocket && !hasAnswer && isLostBy(error)
      reject(isLost ? new LostConnection() : error)
    })
    // The server upgraded the connection although this request did not ask for an upgrade. Requests
    // for upgrades use `sendUpgrade`.
    sent.on('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new Error('malformed HTTP response: 101 Switching Protocols'))
    })
    sent.on('response', (message) => {
      hasAnswer = true
      resolve(answerOf(message, signal, blocks))
    })
    if (pipeBody === undefined) sent.end()
    else void pipe(pipeBody, sent)
  })
}

function answerOf(message: IncomingMessage, signal: AbortSignal, blocks: Blocks): RemoteAnswer {
  const origin = {
    pause: () => message.pause(),
    resume: () => message.resume(),
    cancel: () => message.destroy(),
  }
  const body = new AnswerBody(origin, blocks)
  message.on('data', (chunk: Buffer) => body.push(chunk))
  message.on('end', () => body.end())
  message.on('error', (error) => body.fail(signal.aborted ? requestAborted() : error))
  message.on('close', () =>
    body.fail(signal.aborted ? requestAborted() : new Error('unexpected EOF')),
  )
  return {
    status: message.statusCode ?? 0,
    headers: distinctHeaders(message.rawHeaders),
    body,
    trailers: () =>
      message.rawTrailers.length === 0 ? undefined : distinctHeaders(message.rawTrailers),
  }
}

/**
 * Sends the body. Never rejects: if the body cannot be sent completely, the request is invalid and
 * its connection is closed.
 */
async function pipe(
  pipeBody: NonNullable<RemoteRequest['pipeBody']>,
  sent: ClientRequest,
): Promise<void> {
  let draining: Promise<void> | undefined
  try {
    await pipeBody((chunk) => {
      // For a GET or DELETE, Node would send a body of unknown length without framing. The remote
      // server would then parse the body as a second request.
      if (!sent.headersSent && !sent.hasHeader('content-length'))
        sent.setHeader('transfer-encoding', 'chunked')
      if (sent.write(chunk)) return undefined
      draining ??= drained(sent).then(() => {
        draining = undefined
      })
      return draining
    })
    sent.end()
  } catch (error) {
    sent.destroy(error instanceof Error ? error : undefined)
  }
}

/** Resolves when more data can be written, or when the connection is closed. */
function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sent.off('drain', done).off('close', done)
      resolve()
    }
    if (sent.destroyed) done()
    else sent.on('drain', done).on('close', done)
  })
}

export const outgoing = (headers: Headers): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  )

/** Returns the headers or trailers of a response. Repeated headers are not joined. */
export const distinctHeaders = (raw: readonly string[]): Headers =>
  Object.fromEntries(
    Array.from(headerLines(raw), ([name, values]): [string, string | string[]] => {
      const [only] = values
      return [name, values.length === 1 && only !== undefined ? only : values]
    }),
  )
