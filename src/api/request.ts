/**
 * Requests and responses as plain values. `http/` creates requests from sockets and writes
 * responses to them; the layers between do not depend on the version of HTTP.
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
  /** Percent-decoded but not normalized: `//` and `..` are kept. */
  readonly path: string
  /** As it was sent. Absent if that is the same, and in the server's own requests. */
  readonly rawPath?: string | undefined
  readonly query: URLSearchParams
  /**
   * The query string as it was sent, without the question mark, for proxies. Absent in the server's
   * own requests.
   */
  readonly rawQuery?: string
  readonly headers: IncomingHttpHeaders
  /** Whether CBOR is enabled (gate CBORServingAndStorage). Absent: it is not. */
  readonly takesCbor?: boolean
  /**
   * Which headers name a user; they are not passed on to other servers. Absent in the server's own
   * requests.
   */
  readonly isIdentityHeader?: IsIdentityHeader | undefined
  /** False: it has none. Over HTTP/2 one that has been begun may turn out to be empty. */
  readonly hasBody: boolean
  /**
   * The whole body, empty if there is none. Fails with an ApiError if it exceeds the server's
   * limit.
   */
  readonly body: () => Promise<Buffer>
  /**
   * Instead of `body`: streams the body, whatever its length, with backpressure from the promises
   * of `take`, which must never reject. Fails if the client disconnects before the end.
   */
  readonly pipeBody: (take: (chunk: Buffer) => MaybePromise<void>) => Promise<void>
  /** Aborted when the client disconnects; for a streamed response, also when the server stops. */
  readonly signal: AbortSignal
  /**
   * Sets the listener that is called when `signal` would be aborted, and costs less than a signal.
   * Undefined removes it. Absent in the server's own requests.
   */
  readonly onGone?: (listener: (() => void) | undefined) => void
  /** The address of the peer; empty if the connection is closed already. */
  readonly remoteAddress: string
  /** Absent in the server's own requests. */
  readonly remotePort?: number
  readonly protocol?: 'HTTP/1.1' | 'HTTP/2.0'
  /**
   * To be called when it is known who sends it: what it makes the server hold is counted for him.
   * Absent in the server's own requests.
   */
  readonly heldBy?: (holder: Holder) => void
  /**
   * Takes bytes of what the server may hold for its clients, until the request is answered. False:
   * there is no room. Absent in the server's own requests.
   */
  readonly hold?: (bytes: number) => boolean
  /**
   * Like `hold`, for an object that cannot be had in pieces: it may exceed what one client may
   * hold.
   */
  readonly holdObject?: (bytes: number) => boolean
  /** Identifies the connection. Absent in the server's own requests. */
  readonly connection?: object
  /**
   * The client certificate of the TLS handshake. The same object for all requests of a connection,
   * until the client CAs change.
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
  /** If it is not verified: OpenSSL's reason. */
  readonly fault?: string
  /** The client CAs have changed since: what OpenSSL found says nothing about those of now. */
  readonly isOutdated?: true
}

export type Headers = { readonly [name: string]: string | readonly string[] }

/** A body that is produced while it is sent, so that it is never in memory as a whole. */
export type LazyBody = {
  /** Called if it is not sent at all. */
  readonly close?: () => void
  /** How many bytes the chunks have together. */
  readonly length: number
  /** What it keeps in memory until it is sent, if that is not in the cache. */
  readonly heldBytes?: number
  /** It comes from another server, which may end it before its end. */
  readonly isRelayed?: boolean
  /**
   * Identifies the bytes (a list at a revision, in a representation): bodies with the same tag are
   * compressed once for all clients.
   */
  readonly tag?: () => string
  /**
   * The next chunk is pulled only when the socket has taken those before: the memory of a chunk may
   * be reused for the next. The buffers of a chunk are written together. Chunks of 64 KB in one
   * buffer are the cheapest.
   */
  readonly chunks: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>
}

/**
 * A stream that is pulled without a promise for each of its parts: a watch has many events, and
 * there are many watches.
 */
export type FrameSource = {
  /**
   * The frames available now, to be written together; an empty list means: wait for `onReady`.
   * Undefined is the end. Their memory may be reused by the next call: who keeps a frame for longer
   * copies it.
   */
  readonly take: () => readonly Buffer[] | undefined
  /** Calls back once, asynchronously, when there is something to take or the stream has ended. */
  readonly onReady: (ready: () => void) => void
  /**
   * The client has disconnected or the server stops: the stream should end soon. May be called more
   * than once.
   */
  readonly close: () => void
}

/** A slot in the limit of requests in flight, to be released once. */
export interface InFlightSlot {
  readonly leave: () => void
  /**
   * The client reads so slowly that its answer costs the server next to no work: what stands for
   * work is released. More than once is the same.
   */
  readonly stall?: () => void
}

/**
 * A body up to this length is short: it needs so little memory that nothing waits until its client
 * has read it.
 */
export const SHORT_BODY_BYTES_MAX = 64 * 1024

export type ApiResponse = {
  /** The caller was not authenticated: its connection gets stricter limits. */
  readonly isUnauthenticated?: boolean
  /** The connection takes no further requests: `connection: close`, or GOAWAY. */
  readonly endsConnection?: boolean
  /**
   * The slot of a response that occupies memory until it is written: released by the writer when
   * the client has received it or disconnected.
   */
  readonly place?: InFlightSlot | undefined
} & (
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Several buffers are one body; they may be shared with other responses and are never
       * changed.
       */
      readonly body: Buffer | readonly Buffer[] | LazyBody
      /** Whether the body is sent as it is, even if the client accepts gzip. */
      readonly isEncoded?: boolean
      /** The Status that the body is, if it is one. */
      readonly shownStatus?: Status
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * Sent as it is produced; the headers are sent at once. Buffers that are yielded together are
       * written together.
       */
      readonly stream: AsyncIterable<readonly Buffer[]>
    }
  | {
      readonly status: number
      readonly headers: Headers
      /**
       * As `stream`: the headers are sent at once, then the frames, no faster than the client
       * reads.
       */
      readonly frames: FrameSource
      /**
       * It has an end of its own: when the server stops, it is waited for. Absent: it is a watch.
       */
      readonly isFinite?: boolean
      /**
       * Headers that follow the frames: asked for when these have ended. Undefined: there are none.
       */
      readonly trailers?: () => Headers | undefined
      /** What it holds while its client does not read. Absent: next to nothing. */
      readonly heldBytes?: number
      /** It comes from another server, which may end it before its end. */
      readonly isRelayed?: boolean
    }
  | {
      /** 101, with the headers of the protocol that is switched to. */
      readonly status: number
      readonly headers: Headers
      /**
       * Takes the connection over for the negotiated protocol. Only if the client requested an
       * upgrade.
       */
      readonly tunnel: (connection: Duplex) => void
      /**
       * It is a watch, which this ends in the words of its protocol. Absent: the connection is cut.
       */
      readonly close?: () => void
    }
)

/**
 * Answers a request. A request with `ownUser` is a request of the server to itself: it is not
 * authenticated. The listener never sets `ownUser`.
 */
export type Handler = (request: ApiRequest, ownUser?: User) => Promise<ApiResponse>

/**
 * The first value of a header that may have been sent more than once. Node decodes headers as
 * Latin-1; values that may contain more than ASCII (names of users, agents) have to go through
 * `utf8Header`.
 */
export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * Elements of a header and parameters of an element: more than any client sends. A header of 1 MB
 * may contain half a million.
 */
const ELEMENTS_MAX = 500
const PARAMETERS_MAX = 100

/**
 * The elements of a header that is a list (RFC 9110, section 5.6.1); those beyond the first 500 are
 * ignored.
 */
export const elementsOf = (header: string): string[] =>
  header.split(',', ELEMENTS_MAX).map((element) => element.trim())

/** The value of an element and its parameters: `text/plain` and `q=1`. */
export const parametersOf = (element: string): string[] =>
  element.split(';', PARAMETERS_MAX).map((parameter) => parameter.trim())

/** A header value decoded as UTF-8; invalid bytes become U+FFFD. */
export function utf8Header(value: string): string {
  // oxlint-disable-next-line no-control-regex -- anything beyond ASCII is what is looked for
  return /^[\x00-\x7f]*$/.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
}

const isWhiteSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Without white space of ASCII at both ends. `trim` takes U+00A0, too, which in a header that is
 * decoded as Latin-1 may be the last byte of a letter: two users would have the same name.
 */
export function trimWhiteSpace(value: string): string {
  let [start, end] = [0, value.length]
  while (start < end && isWhiteSpace(value.charCodeAt(start))) start++
  while (start < end && isWhiteSpace(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

/**
 * The lines of a header whose lines are kept apart: each is one value, even if it contains commas.
 */
export function headerValues(headers: IncomingHttpHeaders, name: string): string[] {
  const value = headers[name]
  if (value === undefined) return []
  return (typeof value === 'string' ? [value] : value).map((one) => utf8Header(trimWhiteSpace(one)))
}

/**
 * The end of a header's name that is a percent-encoded key; one that cannot be decoded is kept as
 * it is.
 */
export function decodeHeaderKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    if (error instanceof URIError) return key
    throw error
  }
}
