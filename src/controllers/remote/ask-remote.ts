/**
 * Sends a request of a controller that this server forwards to a remote API server. The response
 * can arrive in pieces, be too large, or never arrive.
 */
import { parseJson } from '../../api/json-value.ts'
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { type OwnRequest, request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { ApiResponse } from '../../api/request.ts'
import { deadline, type Timers } from '../../lib/time/timers.ts'

/**
 * Maximum size of a response. A larger response is an error. Lists are requested in pages, so their
 * responses are smaller.
 */
const ANSWER_BYTES_MAX = 32 << 20
/**
 * Time limit of a request. Without it, a slow remote server would block the queue of a controller.
 */
const ANSWER_MS_MAX = 20_000

export type RemoteCall = OwnRequest & { readonly timers: Pick<Timers, 'after'> }
export type RemoteAnswer = { readonly status: number; readonly bytes: Buffer }

/** Returns the whole response. Rejects if it is too large or takes too long. */
export async function askRemote(
  handle: Handler,
  { timers, signal, ...asked }: RemoteCall,
): Promise<RemoteAnswer> {
  using late = deadline(timers, ANSWER_MS_MAX)
  const both = AbortSignal.any([signal, late.signal])
  const response = await request(handle, { ...asked, signal: both })
  return { status: response.status, bytes: await bytesOf(response, both) }
}

/**
 * Maximum size of a Status that is parsed. Usually, a Status has a few hundred bytes. Parsing a
 * much larger one would block the event loop, so it is ignored.
 */
const STATUS_BYTES_MAX = 64 << 10

/** Returns the Status in a response, or an empty object if the response is not a JSON object. */
export function answeredObject({ bytes }: Pick<RemoteAnswer, 'bytes'>): Fields {
  if (bytes.length > STATUS_BYTES_MAX) return {}
  try {
    return fieldsOf(parseJson(bytes))
  } catch {
    // The response is plain text, such as `service unavailable`.
    return {}
  }
}

export const failureText = (path: string, answer: RemoteAnswer): string =>
  textOf(answeredObject(answer)['message']) || `${path} returned status ${answer.status}`

export const FAILURE = 400
export const NOT_FOUND = 404
export const NOT_ALLOWED = 405

/**
 * Reads the whole body, because an unread response would keep a connection to the remote server
 * open.
 */
async function bytesOf(response: ApiResponse, signal: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const add = (buffers: readonly Buffer[]): void => {
    for (const buffer of buffers) {
      length += buffer.length
      if (length > ANSWER_BYTES_MAX)
        throw new Error(`the response has more than ${ANSWER_BYTES_MAX} bytes`)
      parts.push(Buffer.from(buffer))
    }
  }
  if ('body' in response) {
    if (Buffer.isBuffer(response.body)) return response.body
    if (!('chunks' in response.body)) return Buffer.concat(response.body)
    for await (const buffers of response.body.chunks) add(buffers)
  } else if ('stream' in response) {
    for await (const buffers of response.stream) add(buffers)
  } else if ('frames' in response) {
    const { frames } = response
    try {
      for (let taken = frames.take(); taken !== undefined; taken = frames.take()) {
        signal.throwIfAborted()
        add(taken)
        if (taken.length === 0) await new Promise<void>((resolve) => frames.onReady(resolve))
      }
    } finally {
      frames.close()
    }
  }
  return Buffer.concat(parts)
}
