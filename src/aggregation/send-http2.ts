/** Sends a request to a remote server as a stream of HTTP/2. */
import type { Headers } from '../api/request.ts'
import type { ClientStream } from '../http2/client-stream.ts'
import type { HeaderField } from '../http2/field.ts'
import { CODE } from '../http2/protocol.ts'
import type { Http2Session } from '../webhooks/http2-session.ts'
import { LostConnection } from '../webhooks/send.ts'
import { AnswerBody } from './answer-body.ts'
import type { RemoteAnswer, RemoteRequest } from './remote-request.ts'

/** `session`: has a stream reserved for it. Fails with a FailedCall, or a LostConnection if it may be sent again. */
export function sendHttp2(request: RemoteRequest, authority: string, session: Http2Session): Promise<RemoteAnswer> {
  const { signal } = request
  if (signal.aborted || session.isSpent) {
    session.release()
    return Promise.reject(signal.aborted ? aborted() : new LostConnection())
  }
  return new Promise((resolve, reject) => {
    let hasHead = false
    let trailers: Headers | undefined
    let stream: ClientStream | undefined
    let isDone = false
    const body = new AnswerBody({
      pause: () => stream?.pause(),
      resume: () => stream?.resume(),
      cancel: () => stream?.cancel(CODE.CANCEL),
    })
    const onAbort = (): void => {
      body.fail(aborted())
      stream?.cancel(CODE.CANCEL)
    }
    stream = session.request(fieldsOf(request, authority), {
      onHead: (fields) => {
        hasHead = true
        const status = Number(fields.find(({ name }) => name === ':status')?.value)
        resolve({ status, headers: headersOf(fields), body, trailers: () => trailers })
      },
      onData: (chunk) => body.push(chunk),
      onTrailers: (fields) => {
        trailers = headersOf(fields)
      },
      onClose: (code) => {
        isDone = true
        signal.removeEventListener('abort', onAbort)
        // A reset may say NO_ERROR, too.
        if (code === CODE.NO_ERROR && hasHead && stream?.isRemoteEnded !== false) return body.end()
        const error = signal.aborted ? aborted() : session.lostBy(code, hasHead)
        reject(error)
        body.fail(error)
      },
    })
    if (isDone) return
    signal.addEventListener('abort', onAbort)
    if (request.pipeBody === undefined) stream.end()
    else void pipe(request.pipeBody, stream)
  })
}

/** Never fails: without the whole body the request is not valid, and its stream is reset. */
async function pipe(pipeBody: NonNullable<RemoteRequest['pipeBody']>, stream: ClientStream): Promise<void> {
  try {
    await pipeBody((chunk) => {
      let onTaken: (() => void) | undefined
      if (stream.write([chunk], () => onTaken?.())) return undefined
      return new Promise((resolve) => {
        onTaken = resolve
      })
    })
    stream.end()
  } catch {
    stream.cancel(CODE.CANCEL)
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

function headersOf(fields: readonly HeaderField[]): Headers {
  const headers: { [name: string]: string | string[] } = {}
  for (const { name, value } of fields) {
    if (name.startsWith(':')) continue
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else headers[name] = [...(typeof before === 'string' ? [before] : before), value]
  }
  return headers
}

const aborted = (): Error => new DOMException('the request was aborted', 'AbortError')
