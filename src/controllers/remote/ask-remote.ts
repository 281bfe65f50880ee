/**
 * A request of a controller that this server passes on to a remote one, whose answer may come piece
 * by piece, be long, or not come.
 */
import { parseJson } from '../../api/json-value.ts'
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { type OwnRequest, request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { ApiResponse } from '../../api/request.ts'
import { deadline, type Timers } from '../../lib/time/timers.ts'

/** An answer that is longer is a failure: lists are asked for in pages. */
const ANSWER_BYTES_MAX = 32 << 20
/** A remote server that takes longer holds up the queue of a controller. */
const ANSWER_MS_MAX = 20_000

export type RemoteCall = OwnRequest & { readonly timers: Pick<Timers, 'after'> }
export type RemoteAnswer = { readonly status: number; readonly bytes: Buffer }

/** The whole answer. Fails if it is too long or too late. */
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
 * A Status has some hundred bytes; what is longer is not looked at, since it would be parsed in one
 * go.
 */
const STATUS_BYTES_MAX = 64 << 10

/** The Status that was answered. Empty: it is none. */
export function answeredObject({ bytes }: Pick<RemoteAnswer, 'bytes'>): Fields {
  if (bytes.length > STATUS_BYTES_MAX) return {}
  try {
    return fieldsOf(parseJson(bytes))
  } catch {
    // A text, such as `service unavailable`.
    return {}
  }
}

export const failureText = (path: string, answer: RemoteAnswer): string =>
  textOf(answeredObject(answer)['message']) || `${path} answers ${answer.status}`

export const FAILURE = 400
export const NOT_FOUND = 404
export const NOT_ALLOWED = 405

/** What is not read would hold a connection to the remote server. */
async function bytesOf(response: ApiResponse, signal: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const add = (buffers: readonly Buffer[]): void => {
    for (const buffer of buffers) {
      length += buffer.length
      if (length > ANSWER_BYTES_MAX)
        throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`)
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
