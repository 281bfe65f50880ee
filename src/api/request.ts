/**
 * Requests and responses as plain values. `net/http/` creates requests from sockets and writes
 * responses to them. The layers between do not depend on the version of HTTP.
 */
import type { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Holder } from '../lib/bytes/byte-budget.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import type { Status } from './errors.ts'
import type { IsIdentityHeader } from './identity-headers.ts'
import type { User } from './user.ts'

export type ApiRequest = {
  readonly method: string
  /** Path, percent-decoded but not normalized: `//` and `..` are kept. */
  readonly path: string
  /** Path as the client sent it. Absent if it is the same, and in the server's own requests. */
  readonly rawPath?: string | undefined
  readonly query: URLSearchParams
  /**
   * Query string as the client sent it, without the question mark, for proxies. Absent in the
   * server's own requests.
   */
  readonly rawQuery?: string
  readonly headers: IncomingHttpHeaders
  /** Whether CBOR is enabled (gate CBORServingAndStorage). Defaults to false. */
  readonly takesCbor?: boolean
  /**
   * Returns whether a header names a user. Such headers are not passed on to other servers. Absent
   * in the server's own requests.
   */
  readonly isIdentityHeader?: IsIdentityHeader | undefined
  /**
   * Whether the request has a body. Over HTTP/2, a body that was begun may turn out to be empty.
   */
  readonly hasBody: boolean
  /**
   * Reads the whole body, which is empty if there is none. Fails with an ApiError if it exceeds the
   * server's limit.
   */
  readonly body: () => Promise<Buffer>
  /**
   * Streams the body, whatever its length, instead of `body`. The promises of `take` cause
   * backpressure and must never reject. Fails if the client disconnects before the end.
   */
  readonly pipeBody: (take: (chunk: Buffer) => MaybePromise<void>) => Promise<void>
  /**
   * Signal that is aborted when the client disconnects and, for a streamed response, also when the
   * server stops.
   */
  readonly signal: AbortSignal
  /**
   * Sets the listener that is called when `signal` would be aborted, and costs less than a signal.
   * Undefined removes it. Absent in the server's own requests.
   */
  readonly onGone?: (listener: (() => void) | undefined) => void
  /** Address of the peer. Empty if the connection is already closed. */
  readonly remoteAddress: string
  /** Port of the peer. Absent in the server's own requests. */
  readonly remotePort?: number
  readonly protocol?: 'HTTP/1.1' | 'HTTP/2.0'
  /**
   * Charges the memory that this request holds to its sender. Called when the sender is known.
   * Absent in the server's own requests.
   */
  readonly heldBy?: (holder: Holder) => void
  /**
   * Reserves memory that the server may hold for its clients, until the response is complete.
   * Returns false if there is no room. Absent in the server's own requests.
   */
  readonly hold?: (bytes: number) => boolean
  /**
   * Like `hold`, for an object that is not available in pieces, so that it may exceed the share of
   * one client.
   */
  readonly holdObject?: (bytes: number) => boolean
  /** Identifies the connection. Absent in the server's own requests. */
  readonly connection?: object
  /**
   * Returns the client certificate of the TLS handshake. It is the same object for all requests of
   * a connection, until the client CAs change.
   */
  readonly peerCertificate: () => PeerCertificate | undefined
}

export type PeerCertificate = {
  readonly certificate: X509Certificate
  /**
   * Whether OpenSSL found a valid chain, for clientAuth, to one of the client CAs when the
   * connection was established.
   */
  readonly isVerified: boolean
  /** OpenSSL's reason, if the certificate is not verified. */
  readonly fault?: string
  /**
   * Present if the client CAs have changed since. OpenSSL's result says nothing about the current
   * ones.
   */
  readonly isOutdated?: true
}

export type Headers = { readonly [name: string]: string | readonly string[] }

/** A body that is produced while it is sent, so that it is never in memory as a whole. */
export type LazyBody = {
  /** Called if the body is not sent at all. */
  readonly close?: () => void
  /** Number of bytes of all chunks together. */
  readonly length: number
  /** Bytes that the body keeps in memory until it is sent, unless they are in the cache. */
  readonly heldBytes?: number
  /** Whether the body comes from another server, which may cut it off. */
  readonly isRelayed?: boolean
  /**
   * Returns a tag that identifies the bytes (a list at a revision, in a representation). Bodies
   * with the same tag are compressed once for all clients.
   */
  readonly tag?: () => string
  /**
   * Chunks of the body. The next one is pulled only when the socket has taken those before, so its
   * memory may be reused. The buffers of a chunk are written together. Chunks of 64 KB in one
   * buffer are the cheapest.
   */
  readonly chunks: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>
}

/**
 * A stream that is pulled without a promise for each of its parts, because there are many watches
 * with many events.
 */
export type FrameSource = {
  /**
   * Returns the frames available now, which are written together. An empty list means that the
   * caller waits for `onReady`. Undefined is the end. The next call may reuse the memory, so a
   * caller that keeps a frame for longer copies it.
   */
  readonly take: () => readonly Buffer[] | undefined
  /** Calls back once, asynchronously, when there is something to take or the stream has ended. */
  readonly onReady: (ready: () => void) => void
  /**
   * Ends the stream soon, because the client has disconnected or the server stops. May be called
   * more than once.
   */
  readonly close: () => void
}

/** A slot in the limit of requests in flight. It is released once. */
export interface InFlightSlot {
  readonly leave: () => void
  /**
   * Releases the part of the slot that stands for work, because the client reads so slowly that its
   * response costs the server next to no work. Further calls have no effect.
   */
  readonly stall?: () => void
}

/**
 * Maximum length of a short body. It needs so little memory that nothing waits until its client has
 * read it.
 */
export const SHORT_BODY_BYTES_MAX = 64 * 1024

export type ApiResponse = {
  /** Whether the client was not authenticated. Its connection then gets stricter limits. */
  readonly isUnauthenticated?: boolean
  /** Whether the connection takes no further requests: `connection: close`, or GOAWAY. */
  readonly endsConnection?: boolean
  /**
   * Slot of a response that occupies memory until it is written. The writer releases it when the
   * client has received the response or disconnected.
   */
  readonly place?: InFlightSlot | undefined
} & (
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Body of the response. Several buffers are one body. They may be shared with other
       * responses, and are never changed.
       */
      readonly body: Buffer | readonly Buffer[] | LazyBody
      /** Whether the body is sent as it is, even if the client accepts gzip. */
      readonly isEncoded?: boolean
      /** Status object in the body, if it is one. */
      readonly shownStatus?: Status
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Body that is sent as it is produced, while the headers are sent at once. Buffers that are
       * yielded together are written together.
       */
      readonly stream: AsyncIterable<readonly Buffer[]>
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Frames that are sent no faster than the client reads. As for `stream`, the headers are sent
       * at once.
       */
      readonly frames: FrameSource
      /**
       * Whether the stream ends by itself, so that a server that stops waits for it. Absent for a
       * watch.
       */
      readonly isFinite?: boolean
      /**
       * Returns headers that follow the frames, when these have ended. Undefined if there are none.
       */
      readonly trailers?: () => Headers | undefined
      /**
       * Bytes that the stream holds while its client does not read. Absent if it holds next to
       * nothing.
       */
      readonly heldBytes?: number
      /** Whether the stream comes from another server, which may cut it off. */
      readonly isRelayed?: boolean
    }
  | {
      /** Status 101, with the headers of the new protocol. */
      readonly status: number
      readonly headers: Headers
      /**
       * Takes over the connection for the negotiated protocol. Allowed only if the client requested
       * an upgrade.
       */
      readonly tunnel: (connection: Duplex) => void
      /**
       * Ends a watch with the messages of its protocol. Absent if the connection is cut instead.
       */
      readonly close?: () => void
    }
)

/**
 * Handles a request. One with `ownUser` is a request of the server to itself, which is not
 * authenticated. The listener never sets `ownUser`.
 */
export type Handler = (request: ApiRequest, ownUser?: User) => Promise<ApiResponse>

/**
 * Returns the first value of a header that may have been sent more than once. Node decodes headers
 * as Latin-1, so values that may contain more than ASCII (names of users, agents) have to go
 * through `utf8Header`.
 */
export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * Maximum numbers of elements of a header and of parameters of an element, more than any client
 * sends. A header of 1 MB may contain half a million.
 */
const ELEMENTS_MAX = 500
const PARAMETERS_MAX = 100

/**
 * Returns the elements of a header that is a list (RFC 9110, section 5.6.1). Elements beyond the
 * first 500 are ignored.
 */
export const elementsOf = (header: string): string[] =>
  header.split(',', ELEMENTS_MAX).map((element) => element.trim())

/** Returns the value of an element and its parameters, such as `text/plain` and `q=1`. */
export const parametersOf = (element: string): string[] =>
  element.split(';', PARAMETERS_MAX).map((parameter) => parameter.trim())

/** Decodes a header value as UTF-8. Invalid bytes become U+FFFD. */
export function utf8Header(value: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern looks for anything beyond ASCII
  return /^[\x00-\x7f]*$/.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
}

const isWhiteSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Removes ASCII white space at both ends. `trim` also removes U+00A0, which may be the last byte of
 * a letter in a header decoded as Latin-1: two users would have the same name.
 */
export function trimWhiteSpace(value: string): string {
  let [start, end] = [0, value.length]
  while (start < end && isWhiteSpace(value.charCodeAt(start))) start++
  while (start < end && isWhiteSpace(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

/**
 * Returns the lines of a header whose lines are kept apart. Each is one value, even if it contains
 * commas.
 */
export function headerValues(headers: IncomingHttpHeaders, name: string): string[] {
  const value = headers[name]
  if (value === undefined) return []
  return (typeof value === 'string' ? [value] : value).map((one) => utf8Header(trimWhiteSpace(one)))
}

/**
 * Decodes the end of a header's name that is a percent-encoded key. A key that cannot be decoded is
 * kept as it is.
 */
export function decodeHeaderKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    if (error instanceof URIError) return key
    throw error
  }
}
