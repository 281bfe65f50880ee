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
 * Result of an attempt to reserve memory. `busy` means that other requests use too much memory.
 * `too-large` means that the request needs more memory than even an idle server has.
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
  /** Whether the request has a body. Over HTTP/2, this can be true although the body is empty. */
  readonly hasBody: boolean
  /**
   * Reads the whole body, which is empty if the request has no body. Fails with an ApiError if the
   * body exceeds the limit of the server.
   */
  readonly body: () => Promise<Buffer>
  /**
   * Streams a body of any length to `take`, as an alternative to `body`. While a promise that
   * `take` has returned is pending, no further chunk is read. `take` must not reject. Fails if the
   * client disconnects before the end of the body.
   */
  readonly pipeBody: (take: (chunk: Buffer) => MaybePromise<void>) => Promise<void>
  /**
   * Signal that is aborted when the client disconnects. For a streamed response, the signal is also
   * aborted when the server shuts down.
   */
  readonly signal: AbortSignal
  /**
   * Sets a listener that is called when `signal` is aborted, even if no signal was created, because
   * a listener is cheaper than a signal. Undefined removes the listener. Absent in the server's own
   * requests.
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
   * Like `hold`, but for the part of a stream that the client has not read yet. Each call replaces
   * the previous reservation.
   */
  readonly holdUnsent?: (bytes: number) => boolean
  /**
   * Like `hold`, but may exceed the memory limit for a single client. Used for objects that cannot
   * be processed in parts.
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
   * Whether OpenSSL accepted the certificate when the connection was established: whether it found
   * a valid chain to a client CA, with the usage clientAuth.
   */
  readonly isVerified: boolean
  /** OpenSSL's error if the certificate is not verified. */
  readonly fault?: string
  /**
   * Whether the client CAs have changed since the connection was established, so that OpenSSL's
   * result no longer counts.
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
   * Bytes of memory that the body uses until it is sent. Memory that the body shares with the cache
   * is not included.
   */
  readonly heldBytes?: number
  /**
   * Whether the body is forwarded from another server. That server might end the body before it is
   * complete.
   */
  readonly isRelayed?: boolean
  /**
   * Returns a string that identifies the content of the body: the list, its revision, and its
   * format. Bodies with the same tag are compressed only once.
   */
  readonly tag?: () => string
  /**
   * The chunks of the body. The socket accepts a chunk before the next one is requested, so the
   * next one can reuse the memory. The buffers of a chunk are written together. It is most
   * efficient if each chunk is a single buffer of 64 KB.
   */
  readonly chunks: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>
}

/**
 * A stream that is read with function calls instead of promises, because many watches can have many
 * events.
 */
export type FrameSource = {
  /**
   * Returns the frames that are available now, to be written together. An empty list means that the
   * caller must wait for `onReady`, and undefined means the end. A caller that retains a frame must
   * copy it, because the next call can reuse its memory.
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
 * One of the slots that limit the number of requests in flight. Each slot must be released exactly
 * once.
 */
export interface InFlightSlot {
  readonly leave: () => void
  /**
   * Gives up the CPU time that the slot represents, but not its memory. Called when the client
   * reads its response slowly, so that the server needs almost no CPU time for it. Further calls
   * have no effect.
   */
  readonly stall?: () => void
}

/**
 * Maximum length of a short body. For a short body, the slot of the request is released before the
 * client has read the body, because the body uses little memory.
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
       * Whether the stream ends without action by the client. If so, the server waits for the end
       * during shutdown. Absent for a watch.
       */
      readonly isFinite?: boolean
      /**
       * Returns the trailers. Called after the frames have ended. Returns undefined if there are no
       * trailers.
       */
      readonly trailers?: () => Headers | undefined
      /**
       * Bytes of memory that the stream uses while the client does not read. Absent if the stream
       * uses almost no memory.
       */
      readonly heldBytes?: number
      /**
       * Whether the stream is forwarded from another server. That server might end the stream
       * before it is complete.
       */
      readonly isRelayed?: boolean
    }
  | {
      /** The status is 101, and the headers describe the new protocol. */
      readonly status: number
      readonly headers: Headers
      /**
       * Takes over the connection, which then uses the negotiated protocol. Allowed only if the
       * client requested an upgrade.
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
