/** A request to a remote server and its response, for every version of HTTP. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ApiRequest, Headers } from '../../api/request.ts'
import type { AnswerBody } from './answer-body.ts'

/** How much of a response may arrive before it is pulled, if the response may never end. */
export const WATCH_WINDOW_BYTES = 64 * 1024
/**
 * How much of a response may arrive before it is pulled, if it should be passed on as fast as
 * possible. Half of it is in transit while the other half is sent.
 */
export const LONG_WINDOW_BYTES = 512 * 1024

export type RemoteRequest = {
  readonly method: string
  /** Path with the query. */
  readonly path: string
  /** Headers with names in lower case, without `host`, which is the address. */
  readonly headers: Headers
  /** Undefined if the request has no body. */
  readonly pipeBody: ApiRequest['pipeBody'] | undefined
  readonly signal: AbortSignal
}

export type RemoteAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: AnswerBody
  /**
   * Lets up to `LONG_WINDOW_BYTES` of the body arrive before it is pulled. This is for long bodies
   * that have an end. Absent if the window cannot be changed.
   */
  readonly widen?: () => void
  /** Returns the trailers, which are known once the body has ended. */
  readonly trailers: () => Headers | undefined
}

/** Response to an upgrade request. Without a socket, the server refused the upgrade. */
export type UpgradeAnswer = {
  readonly message: IncomingMessage
  readonly socket: Duplex | undefined
}

/** Creates the error of a request whose client disconnected or whose time is up. */
export const requestAborted = (): Error => new DOMException('the request was aborted', 'AbortError')
