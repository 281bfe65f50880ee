/**
 * A request and an answer as plain values. `http/` makes the first from a socket and writes the second to one; all that
 * lies between knows nothing of HTTP versions.
 */
import type { IncomingHttpHeaders } from 'node:http'

export type ApiRequest = {
  readonly method: string
  /** Percent-decoded, as it was sent otherwise: never cleaned of `//` or `..`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The whole body, empty when there is none. Fails with an ApiError when it is longer than the server takes. */
  readonly body: () => Promise<Buffer>
  /** Aborted when the client goes away; and, once the answer is a stream, when the server stops. */
  readonly signal: AbortSignal
}

export type Headers = { readonly [name: string]: string | readonly string[] }

export type ApiResponse =
  | {
      readonly status: number
      readonly headers: Headers
      /** Several buffers are one body; they may be shared with other answers and are never changed. */
      readonly body: Buffer | readonly Buffer[]
    }
  | {
      readonly status: number
      readonly headers: Headers
      /** Sent as it comes; the headers leave at once. What is yielded together is written together. */
      readonly stream: AsyncIterable<readonly Buffer[]>
    }

export type Handler = (request: ApiRequest) => Promise<ApiResponse>

/** The first value of a header that may have been sent more than once. */
export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
