/** A request to a remote server and its response, for all HTTP versions. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ApiRequest, Headers } from '../../api/request.ts'
import type { AnswerBody } from './answer-body.ts'

/**
 * Number of bytes of a response that can arrive before the client reads them, for a response that
 * might never end.
 */
export const WATCH_WINDOW_BYTES = 64 * 1024
/**
 * Number of bytes of a response that can arrive before the client reads them, for a response that
 * should be forwarded as fast as possible. It is twice the usual number: half of the bytes are in
 * transit from the server while the other half are sent to the client.
 */
export const LONG_WINDOW_BYTES = 512 * 1024

export type RemoteRequest = {
  readonly method: string
  /** Path including the query. */
  readonly path: string
  /**
   * Headers with names in lower case. The `host` header is not included, because it is derived from
   * the address.
   */
  readonly headers: Headers
  /** Streams the body of the request. Undefined if it has no body. */
  readonly pipeBody: ApiRequest['pipeBody'] | undefined
  readonly signal: AbortSignal
}

export type RemoteAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: AnswerBody
  /**
   * Allows up to `LONG_WINDOW_BYTES` of the body to arrive before the client reads. Used for long
   * bodies that have an end. Absent if the window cannot be changed.
   */
  readonly widen?: () => void
  /** Returns the trailers, which are available only after the body has ended. */
  readonly trailers: () => Headers | undefined
}

/** Response to an upgrade request. If `socket` is absent, the server refused the upgrade. */
export type UpgradeAnswer = {
  readonly message: IncomingMessage
  readonly socket: Duplex | undefined
}

/** Creates the error for a request whose client disconnected or whose timeout expired. */
export const requestAborted = (): Error => new DOMException('the request was aborted', 'AbortError')
