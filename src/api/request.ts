/**
 * A request and an answer as plain values. `http/` makes the first from a socket and writes the second to one; all that
 * lies between knows nothing of HTTP versions.
 */
import type { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'

export type ApiRequest = {
  readonly method: string
  /** Percent-decoded, as it was sent otherwise: never cleaned of `//` or `..`. */
  readonly path: string
  readonly query: URLSearchParams
  /** As it was sent, without the question mark: for who hands it on. Absent in the server's own requests. */
  readonly rawQuery?: string
  readonly headers: IncomingHttpHeaders
  /** Whether the server speaks CBOR, which is behind a gate. Absent: it does not. */
  readonly takesCbor?: boolean
  /** The whole body, empty when there is none. Fails with an ApiError when it is longer than the server takes. */
  readonly body: () => Promise<Buffer>
  /**
   * Instead of `body`: hands it on as it comes, whatever its length, no faster than the promises of `take` are kept, which they
   * always are. Fails when the client goes away before the end.
   */
  readonly pipeBody: (take: (chunk: Buffer) => void | Promise<void>) => Promise<void>
  /** Aborted when the client goes away; and, once the answer is a stream, when the server stops. */
  readonly signal: AbortSignal
  /** Where the connection comes from; empty when it is gone already. */
  readonly remoteAddress: string
  /** What the client showed in the TLS handshake. The same object for all requests of a connection. */
  readonly peerCertificate: () => PeerCertificate | undefined
}

export type PeerCertificate = {
  readonly certificate: X509Certificate
  /** Whether OpenSSL found a valid chain, for TLS clients, to one of the client authorities when the connection was made. */
  readonly isVerified: boolean
}

export type Headers = { readonly [name: string]: string | readonly string[] }

/** A body that is made while it is sent, so that it need never be whole in memory. */
export type LazyBody = {
  /** How many bytes the chunks have together. */
  readonly length: number
  /** Names these very bytes (a list at a revision, in a form): bodies of one tag are compressed once for all who ask. */
  readonly tag?: () => string
  /**
   * Asked for the next one only when the socket has taken those before: a chunk's memory may be used again for the next. A
   * chunk's buffers are written together. Chunks of 64 KB in one piece are the cheapest.
   */
  readonly chunks: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>
}

/** A stream that is pulled without a promise for each of its parts: a watch has many, and there are many watches. */
export type FrameSource = {
  /** What is there now, written together; none means: wait for `onReady`. Undefined is the end. */
  readonly take: () => readonly Buffer[] | undefined
  /** Calls back once, when there is something to take or the end has come; never before it returns. */
  readonly onReady: (ready: () => void) => void
  /** The client has gone away or the server stops: the end is to come soon. May be called more than once. */
  readonly close: () => void
}

/** A place among the requests under way: to be left once. */
export interface InFlightPlace {
  readonly leave: () => void
}

export type ApiResponse = {
  /** Whoever asked has not shown who they are. What they may hold of the server is bounded more tightly. */
  readonly isUnauthenticated?: boolean
  /** Of an answer that takes memory until it is written: left by who writes it, when the client has it or has gone. */
  readonly place?: InFlightPlace | undefined
} & (
  | {
      readonly status: number
      readonly headers: Headers
      /** Several buffers are one body; they may be shared with other answers and are never changed. */
      readonly body: Buffer | readonly Buffer[] | LazyBody
      /** Whether it is sent as it is, also to who takes gzip. */
      readonly isEncoded?: boolean
    }
  | {
      readonly status: number
      readonly headers: Headers
      /** Sent as it comes; the headers leave at once. What is yielded together is written together. */
      readonly stream: AsyncIterable<readonly Buffer[]>
    }
  | {
      readonly status: number
      readonly headers: Headers
      /** As `stream`: the headers leave at once, then what is taken, no faster than the client reads. */
      readonly frames: FrameSource
    }
  | {
      /** 101, and the headers of the protocol that follows. */
      readonly status: number
      readonly headers: Headers
      /** Takes the connection over and speaks on it whatever was agreed upon. Only where the client asked for an upgrade. */
      readonly tunnel: (connection: Duplex) => void
    }
)

export type Handler = (request: ApiRequest) => Promise<ApiResponse>

/**
 * The first value of a header that may have been sent more than once. Node hands out one character for each byte; values
 * that may have more than ASCII in them (names of users, agents) go through `utf8Header`.
 */
export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Of a header, and of one of its elements: more than any client sends. A header of 1 MB may have half a million. */
const ELEMENTS_MAX = 500
const PARAMETERS_MAX = 100

/** The elements of a header that is a list (RFC 9110, section 5.6.1); those beyond the first 500 do not count. */
export const elementsOf = (header: string): string[] => header.split(',', ELEMENTS_MAX).map((element) => element.trim())

/** What an element says, and its parameters: `text/plain` and `q=1`. */
export const parametersOf = (element: string): string[] =>
  element.split(';', PARAMETERS_MAX).map((parameter) => parameter.trim())

/** The text of a header value whose bytes are UTF-8; bytes that are none become U+FFFD. */
export function utf8Header(value: string): string {
  // oxlint-disable-next-line no-control-regex -- anything beyond ASCII is what is looked for
  return /^[\x00-\x7f]*$/.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
}
