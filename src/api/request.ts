/**
 * Requests and responses as plain values. `net/http/` creates requests from sockets and writes
 * responses to sockets. The layers between them do not depend on the HTTP version.
 */
import type { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Holder } from '../lib/bytes/byte-budget.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import type { Status } from './errors.ts'
import type { IsIdentityHeader } from './identity-headers.ts'
import type { User } from './user.ts'

/**
 * Result of a reservation of memory. `busy` means that other requests use the memory. `too-large`
 * means that the server could not serve the request even if it were idle.
 */
export type HoldResult = 'held' | 'busy' | 'too-large'

export type ApiRequest = {
  readonly method: string
  /** Path, percent-decoded but not normalized: `//` and `..` are preserved. */
  readonly path: string
  /** Path as the client sent it. Absent if it equals `path`, and in the server's own requests. */
  readonly rawPath?: string | undefined
  readonly query: URLSearchParams
  /**
   * Query string as the client sent it, without the question mark, for proxies. Absent in the
   * server's own requests.
   */
  readonly rawQuery?: string
  readonly headers: IncomingHttpHeaders
  /** Whether CBOR is enabled (feature gate CBORServingAndStorage). Defaults to false. */
  readonly takesCbor?: boolean
  /**
   * Returns whether a header identifies a user. These headers are not forwarded to other servers.
   * Absent in the server's own requests.
   */
  readonly isIdentityHeader?: IsIdentityHeader | undefined
  /** Whether the request has a body. Over HTTP/2, the body can still turn out to be empty. */
  readonly hasBody: boolean
  /**
   * Reads the whole body, which is empty if the request has no body. Fails with an ApiError if the
   * body exceeds the limit of the server.
   */
  readonly body: () => Promise<Buffer>
  /**
   * Streams a body of any length. Use this instead of `body`. Reading pauses while a promise of
   * `take` is pending. These promises must never reject. Fails if the client disconnects before the
   * end.
   */
  readonly pipeBody: (take: (chunk: Buffer) => MaybePromise<void>) => Promise<void>
  /**
   * Signal that is aborted when the client disconnects. For a streamed response, the signal is also
   * aborted when the server shuts down.
   */
  readonly signal: AbortSignal
  /**
   * Sets a listener that is called when `signal` is or would be aborted. A listener costs less than
   * creating the signal. Undefined removes the listener. Absent in the server's own requests.
   */
  readonly onGone?: (listener: (() => void) | undefined) => void
  /** IP address of the client. Empty if the connection is already closed. */
  readonly remoteAddress: string
  /** Port of the client. Absent in the server's own requests. */
  readonly remotePort?: number
  readonly protocol?: 'HTTP/1.1' | 'HTTP/2.0'
  /**
   * Counts the memory that this request uses toward the limit of its sender. Called when the sender
   * is known. Absent in the server's own requests.
   */
  readonly heldBy?: (holder: Holder) => void
  /**
   * Reserves memory for the request until the response is complete. Returns false if the server's
   * limit for memory used by requests is reached. Absent in the server's own requests.
   */
  readonly hold?: (bytes: number) => boolean
  /**
   * Like `hold`, for the frames of a stream that the client has not read yet. Each call replaces
   * the reservation of the previous call.
   */
  readonly holdUnsent?: (bytes: number) => boolean
  /**
   * Like `hold`, but the reserved memory can exceed the limit for one client. Used for objects that
   * cannot be processed in pieces.
   */
  readonly holdObject?: (bytes: number) => HoldResult
  /** An object that identifies the connection. Absent in the server's own requests. */
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
   * Whether OpenSSL found a valid chain to one of the client CAs, with the usage clientAuth, when
   * the connection was established.
   */
  readonly isVerified: boolean
  /** OpenSSL's error if the certificate is not verified. */
  readonly fault?: string
  /**
   * Whether the client CAs have changed since the connection was established. OpenSSL's result then
   * does not apply to the current CAs.
   */
  readonly isOutdated?: true
}

export type Headers = { readonly [name: string]: string | readonly string[] }

/** A body that is produced while it is sent, so that it is never in memory as a whole. */
export type LazyBody = {
  /** Releases the resources of the body. Called if the body is not sent. */
  readonly close?: () => void
  /** Number of bytes of all chunks together. */
  readonly length: number
  /**
   * Bytes of memory that the body uses until it is sent. Memory of the cache that the body shares
   * does not count.
   */
  readonly heldBytes?: number
  /** Whether the body comes from another server, which might end it early. */
  readonly isRelayed?: boolean
  /**
   * Returns a tag that identifies the content of the body. It names the list, its revision and its
   * representation. Bodies with the same tag are compressed once for all clients.
   */
  readonly tag?: () => string
  /**
   * Chunks of the body. The next chunk is pulled only after the socket has accepted the previous
   * chunk, so its memory can be reused. The buffers of a chunk are written together. One buffer of
   * 64 KB per chunk is the most efficient choice.
   */
  readonly chunks: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>
}

/**
 * A stream whose parts are pulled without promises, because there can be many watches with many
 * events.
 */
export type FrameSource = {
  /**
   * Returns the frames that are available now, which are written together. If the list is empty,
   * the caller waits for `onReady`. Returns undefined at the end. The next call can reuse the
   * memory, so a caller that retains a frame must copy it.
   */
  readonly take: () => readonly Buffer[] | undefined
  /** Calls back once, asynchronously, when frames are available or the stream has ended. */
  readonly onReady: (ready: () => void) => void
  /**
   * Ends the stream soon. Called when the client has disconnected or the server is shutting down,
   * possibly more than once.
   */
  readonly close: () => void
}

/**
 * One of the limited number of slots for requests in flight. Each slot must be released exactly
 * once.
 */
export interface InFlightSlot {
  readonly leave: () => void
  /**
   * Releases the part of the slot that represents CPU time. Called when the client reads its
   * response so slowly that the server needs almost no CPU time for it. Further calls have no
   * effect.
   */
  readonly stall?: () => void
}

/**
 * Maximum length of a short body. A short body uses so little memory that the server does not wait
 * until the client has read it.
 */
export const SHORT_BODY_BYTES_MAX = 64 * 1024

export type ApiResponse = {
  /** Whether the client was not authenticated. Stricter limits then apply to its connection. */
  readonly isUnauthenticated?: boolean
  /**
   * Whether the connection accepts no further requests. The client is informed by a `connection:
   * close` header, or by GOAWAY in HTTP/2.
   */
  readonly endsConnection?: boolean
  /**
   * Slot for a response that uses memory until it is written. The writer releases the slot when the
   * client has received the response or has disconnected.
   */
  readonly place?: InFlightSlot | undefined
} & (
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Body of the response. Several buffers form one body. The buffers can be shared with other
       * responses, and are never changed.
       */
      readonly body: Buffer | readonly Buffer[] | LazyBody
      /** Whether the body is sent without compression, even if the client accepts gzip. */
      readonly isEncoded?: boolean
      /** The Status object, if the body contains one. */
      readonly shownStatus?: Status
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Body that is sent as it is produced, while the headers are sent immediately. Buffers that
       * are yielded together are written together.
       */
      readonly stream: AsyncIterable<readonly Buffer[]>
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Frames that are sent only as fast as the client reads them. As with `stream`, the headers
       * are sent immediately.
       */
      readonly frames: FrameSource
      /**
       * Whether the stream ends by itself. If so, the server waits for its end during shutdown.
       * Absent for a watch.
       */
      readonly isFinite?: boolean
      /**
       * Returns the trailers. Called after the frames have ended. Returns undefined if there are no
       * trailers.
       */
      readonly trailers?: () => Headers | undefined
      /**
       * Bytes of memory that the stream uses while its client does not read. Absent if the stream
       * uses next to none.
       */
      readonly heldBytes?: number
      /** Whether the stream comes from another server, which might end it early. */
      readonly isRelayed?: boolean
    }
  | {
      /** The status is 101, and the headers describe the new protocol. */
      readonly status: number
      readonly headers: Headers
      /**
       * Takes over the connection for the negotiated protocol. Allowed only if the client requested
       * an upgrade.
       */
      readonly tunnel: (connection: Duplex) => void
      /**
       * Ends a watch with the closing messages of the protocol. If absent, the connection is closed
       * without such messages.
       */
      readonly close?: () => void
    }
)

/**
 * Handles a request. If `ownUser` is given, the server itself sends the request, which is then not
 * authenticated. The HTTP listener never sets `ownUser`.
 */
export type Handler = (request: ApiRequest, ownUser?: User) => Promise<ApiResponse>

/**
 * Returns the first value of a header that might have been sent more than once. Node decodes
 * headers as Latin-1, so use `utf8Header` for values that can contain other characters (user names,
 * user agents).
 */
export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * Maximum number of elements in a header, and of parameters in an element. No client sends that
 * many, but a header of 1 MB could contain half a million.
 */
const ELEMENTS_MAX = 500
const PARAMETERS_MAX = 100

/**
 * Returns the elements of a header that is a list (RFC 9110, section 5.6.1). Elements beyond the
 * first 500 are ignored.
 */
export const elementsOf = (header: string): string[] =>
  header.split(',', ELEMENTS_MAX).map((element) => element.trim())

/** Splits an element into its value and its parameters, such as `text/plain` and `q=1`. */
export const parametersOf = (element: string): string[] =>
  element.split(';', PARAMETERS_MAX).map((parameter) => parameter.trim())

/** Decodes a header value as UTF-8. Invalid bytes become U+FFFD. */
export function utf8Header(value: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern looks for anything beyond ASCII
  return /^[\x00-\x7f]*$/.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
}

const isWhiteSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Removes ASCII white space at both ends. `trim` would also remove U+00A0. In a header decoded as
 * Latin-1, this can be the last byte of a letter, so that two users would have the same name.
 */
export function trimWhiteSpace(value: string): string {
  let [start, end] = [0, value.length]
  while (start < end && isWhiteSpace(value.charCodeAt(start))) start++
  while (start < end && isWhiteSpace(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

/**
 * Returns the lines of a header without joining them. Each line is one value, even if it contains
 * commas.
 */
export function headerValues(headers: IncomingHttpHeaders, name: string): string[] {
  const value = headers[name]
  if (value === undefined) return []
  return (typeof value === 'string' ? [value] : value).map((one) => utf8Header(trimWhiteSpace(one)))
}

/**
 * Decodes a percent-encoded key at the end of a header's name. A key that cannot be decoded is
 * returned unchanged.
 */
export function decodeHeaderKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    if (error instanceof URIError) return key
    throw error
  }
}
