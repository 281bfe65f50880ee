/** Sends a request to a remote server as an HTTP/2 stream. */
import type { Headers } from '../../api/request.ts'
import type { ClientStream } from '../../net/http2/client-stream.ts'
import type { HeaderField } from '../../net/http2/field.ts'
import { CODE } from '../../net/http2/protocol.ts'
import type { Blocks } from '../../lib/bytes/blocks.ts'
import type { Http2Session } from '../../net/outbound/http2-session.ts'
import { UnprocessedCall } from '../../net/outbound/send.ts'
import { AnswerBody } from './answer-body.ts'
import {
  LONG_WINDOW_BYTES,
  type RemoteAnswer,
  type RemoteRequest,
  requestAborted,
} from './remote-request.ts'
import { distinctHeaders } from './send-http1.ts'

const NOT_MODIFIED = 304

/**
 * Sends the request. A stream of `session` must be reserved for it. Fails with a FailedCall, or
 * with a LostConnection if the request can be sent again.
 */
export function sendHttp2(
  request: RemoteRequest,
  authority: string,
  { session, blocks }: { readonly session: Http2Session; readonly blocks: Blocks },
): Promise<RemoteAnswer> {
  const { signal } = request
  if (signal.aborted || session.isSpent) {
    session.release()
    return Promise.reject(signal.aborted ? requestAborted() : new UnprocessedCall())
  }
  return new Promise((resolve, reject) => {
    let hasHead = false
    let trailers: Headers | undefined
    // The stream is stored in an object. If the session closes while it opens the stream, `onClose`
    // is called before the variable `stream` is assigned.
    const opened: { stream?: ClientStream } = {}
    let isDone = false
    const origin = {
      giveBack: (bytes: number) => opened.stream?.returnWindow(bytes),
      cancel: () => opened.stream?.cancel(CODE.CANCEL),
    }
    const body = new AnswerBody(origin, blocks)
    const widen = (): void => opened.stream?.widen(LONG_WINDOW_BYTES)
    const onAbort = (): void => {
      body.fail(requestAborted())
      opened.stream?.cancel(CODE.CANCEL)
    }
    const stream = session.request(fieldsOf(request, authority), {
      onHead: (fields) => {
        if (!fields.every(({ isValid }) => isValid)) throw new Error('malformed header')
        hasHead = true
        const status = Number(fields.find(({ name }) => name === ':status')?.value)
        const headers = headersOf(fields)
        // In responses to HEAD, and in responses with status 304, Content-Length is that of the
        // full response (RFC 9110, section 8.6).
        if (request.method !== 'HEAD' && status !== NOT_MODIFIED)
          body.expect(headers['content-length'])
        resolve({ status, headers, body, trailers: () => trailers, widen })
      },
      onData: (chunk) => body.push(chunk),
      returnsWindow: true,
      onTrailers: (fields) => {
        if (!fields.every(({ isValid }) => isValid)) throw new Error('malformed trailer')
        trailers = headersOf(fields)
      },
      onClose: (code) => {
        isDone = true
        signal.removeEventListener('abort', onAbort)
        // The code NO_ERROR alone does not mean that the response is complete, because a stream can
        // also be reset with this code.
        if (code === CODE.NO_ERROR && hasHead && opened.stream?.isRemoteEnded === true)
          return body.end()
        const error = signal.aborted ? requestAborted() : session.lostBy(code, hasHead)
        reject(error)
        body.fail(error)
      },
    })
    opened.stream = stream
    if (isDone) return
    signal.addEventListener('abort', onAbort)
    if (request.pipeBody === undefined) stream.end()
    else void pipe(request.pipeBody, stream)
  })
}

/**
 * Sends the body. Never rejects: if the body cannot be sent completely, the request is invalid and
 * its stream is reset.
 */
async function pipe(
  pipeBody: NonNullable<RemoteRequest['pipeBody']>,
  stream: ClientStream,
): Promise<void> {
  const writer = new BodyWriter(stream)
  try {
    await pipeBody((chunk) => writer.take(chunk))
    await writer.taken
    stream.end()
  } catch {
    stream.cancel(CODE.CANCEL)
  }
}

/**
 * Writes a body to a stream. The stream accepts one write at a time. Before a write completes,
 * further chunks from the client are queued. Their total size is limited by the flow-control window
 * of the client.
 */
class BodyWriter {
  readonly #stream: ClientStream
  #waiting: Buffer[] = []
  #isWriting = false
  #taken = Promise.withResolvers<void>()

  constructor(stream: ClientStream) {
    this.#stream = stream
  }

  /**
   * Resolves when the stream has accepted all chunks. Returns undefined if it has already accepted
   * all of them.
   */
  get taken(): Promise<void> | undefined {
    return this.#isWriting ? this.#taken.promise : undefined
  }

  take(chunk: Buffer): Promise<void> | undefined {
    this.#waiting.push(chunk)
    if (!this.#isWriting) this.#write()
    return this.taken
  }

  readonly #write = (): void => {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const parts = this.#waiting
      this.#waiting = []
      if (!this.#stream.write(parts, this.#write)) return
    }
    this.#isWriting = false
    this.#taken.resolve()
    this.#taken = Promise.withResolvers()
  }
}

function fieldsOf({ method, path, headers }: RemoteRequest, authority: string): string[] {
  const fields = [':method', method, ':scheme', 'https', ':authority', authority, ':path', path]
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') fields.push(name, value)
    else for (const one of value) fields.push(name, one)
  }
  return fields
}

const headersOf = (fields: readonly HeaderField[]): Headers =>
  distinctHeaders(fields.flatMap(({ name, value }) => (name.startsWith(':') ? [] : [name, value])))
