/**
 * One request and its answer on a socket, the same for HTTP/1.1 and HTTP/2. Its life: begun, body read if anybody asks for
 * it, answered, closed. Whoever needs to know of the end looks at the signal, which exists only if asked for.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { badRequest, bodyTooLarge } from '../api/errors.ts'
import type { ApiRequest, Headers } from '../api/request.ts'

/** As kube-apiserver: twice the size of the largest object that etcd takes, with room for encoding. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024
/** A client that does not send its body in this time is not going to. As long as kube-apiserver's request timeout. */
const BODY_MS_MAX = 60_000

export type Outgoing = {
  readonly writable: Writable
  /** False: the method is HEAD, and the answer has no body. */
  readonly takesBody: boolean
  readonly writeHead: (status: number, headers: Headers) => unknown
  /** Sends the headers before there is a body. */
  readonly flushHead: () => void
}

/** A request as it came from the socket. */
export type Incoming = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly readable: Readable
  readonly outgoing: Outgoing
}

export class Exchange implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly outgoing: Outgoing
  readonly #incoming: Readable
  #controller: AbortController | undefined
  #isClosed = false
  #isOverlong = false

  constructor(target: Target, incoming: Incoming) {
    this.method = incoming.method
    this.path = target.path
    this.query = parseQuery(target.query)
    this.headers = incoming.headers
    this.outgoing = incoming.outgoing
    this.#incoming = incoming.readable
  }

  /** The body was longer than allowed, and the rest of it is still coming. */
  get isOverlong(): boolean {
    return this.#isOverlong
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isClosed) this.#controller.abort()
    return this.#controller.signal
  }

  /** The socket is gone, or the server stops and the answer is a stream: nobody reads it any more. */
  close(): void {
    this.#isClosed = true
    this.#controller?.abort()
  }

  body = (): Promise<Buffer> => {
    const length = Number(this.headers['content-length'] ?? 0)
    if (length > BODY_BYTES_MAX) return Promise.reject(this.#overlong())
    return new Promise((resolve, reject) => {
      const incoming = this.#incoming
      const chunks: Buffer[] = []
      let bytes = 0
      const onData = (chunk: Buffer): void => {
        bytes += chunk.length
        if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
        else fail(this.#overlong())
      }
      const done = (): void => {
        clearTimeout(timer)
        incoming.off('data', onData).off('end', onEnd).off('close', onClose)
      }
      const onEnd = (): void => {
        done()
        const [only] = chunks
        resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes))
      }
      const fail = (error: Error): void => {
        done()
        incoming.pause()
        reject(error)
      }
      const onClose = (): void => fail(badRequest('the connection ended before the body did'))
      const timer = setTimeout(() => fail(badRequest('the body did not come in time')), BODY_MS_MAX)
      if (incoming.readableEnded) onEnd()
      else if (incoming.destroyed) onClose()
      else incoming.on('data', onData).on('end', onEnd).on('close', onClose)
    })
  }

  #overlong(): Error {
    this.#isOverlong = true
    return bodyTooLarge(BODY_BYTES_MAX)
  }
}

/** Go's server drops a pair that has a semicolon or a bad escape in it, and keeps the others. */
function parseQuery(query: string): URLSearchParams {
  if (!/[;%]/.test(query)) return new URLSearchParams(query)
  const pairs = query.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair))
  return new URLSearchParams(pairs.join('&'))
}

export type Target = { readonly path: string; readonly query: string }

/** Undefined for a target that cannot be percent-decoded. */
export function readTarget(raw: string): Target | undefined {
  const mark = raw.indexOf('?')
  const path = mark === -1 ? raw : raw.slice(0, mark)
  const query = mark === -1 ? '' : raw.slice(mark + 1)
  if (!path.includes('%')) return { path, query }
  try {
    return { path: decodeURIComponent(path), query }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
