/** A request to a remote server, and its answer, whichever version of HTTP they speak. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ApiRequest, Headers } from '../../api/request.ts'
import type { AnswerBody } from './answer-body.ts'

/** What comes of an answer before it is pulled: of one that may never end, … */
export const WATCH_WINDOW_BYTES = 64 * 1024
/**
 * … and of one that is to be sent on as fast as it goes: half of it is on its way while the other
 * half is sent.
 */
export const LONG_WINDOW_BYTES = 512 * 1024

export type RemoteRequest = {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Names are in lower case. Without `host`: that is the address. */
  readonly headers: Headers
  /** Undefined: there is none. */
  readonly pipeBody: ApiRequest['pipeBody'] | undefined
  readonly signal: AbortSignal
}

export type RemoteAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: AnswerBody
  /**
   * Lets more of the body come before it is pulled: `LONG_WINDOW_BYTES`. For what is long and has
   * an end. Absent: that cannot be chosen.
   */
  readonly widen?: () => void
  /** Known when the body has ended. */
  readonly trailers: () => Headers | undefined
}

/** An upgraded connection; without a socket the server refused, and this is its answer. */
export type UpgradeAnswer = {
  readonly message: IncomingMessage
  readonly socket: Duplex | undefined
}

/** Its client has gone, or its time is up. */
export const requestAborted = (): Error => new DOMException('the request was aborted', 'AbortError')
