/**
 * Writes the response to a request. Implemented by HTTP/1.1 exchanges, HTTP/2 exchanges, and tests.
 */
import type { Headers } from '../../api/request.ts'

/**
 * Describes a body. `length` is its length in bytes, if known. `isEnd` means that the response has
 * no body.
 */
export type BodyForm = { readonly length?: number | undefined; readonly isEnd?: boolean }

export interface Outgoing {
  /** Whether the response can have a body. False if the method is HEAD. */
  readonly takesBody: boolean
  /** Whether the client has disconnected. If so, written data is lost. */
  readonly isGone: boolean
  /** Whether the client accepts compressed bodies. */
  readonly takesGzip: () => boolean
  /**
   * Reserves memory for data that waits for the client to read it, until the response has ended.
   * Returns false if this would exceed the memory budget. Without this function, memory is not
   * limited.
   */
  readonly hold?: (bytes: number) => boolean
  readonly writeHead: (status: number, headers: Headers, body: BodyForm) => void
  /** Sends the headers before any part of the body is written. */
  readonly flushHead: () => void
  /**
   * Writes data. Returns true if the data has been accepted, so that the memory of the parts can be
   * reused. Otherwise calls `onTaken` when the data has been accepted or the client has
   * disconnected. Only one write can be pending. Never throws.
   */
  readonly write: (parts: readonly Buffer[], onTaken: () => void) => boolean
  /**
   * Writes the last parts of the body and ends the response. The parts must not change until they
   * are sent.
   */
  readonly end: (parts?: readonly Buffer[]) => void
  /** Ends the response with trailers. All previous writes must have completed. */
  readonly endWith: (trailers: Headers) => void
  /**
   * Registers a function that is called once, when the client disconnects or the server stops. If
   * one of these has already happened, calls the function immediately.
   */
  readonly onClose: (close: () => void) => void
}

/** Writes data. Returns false if the client has disconnected. */
export function write(outgoing: Outgoing, parts: readonly Buffer[]): Promise<boolean> | boolean {
  let resolve: ((isHere: boolean) => void) | undefined
  if (outgoing.write(parts, () => resolve?.(!outgoing.isGone))) return !outgoing.isGone
  return new Promise((settle) => {
    resolve = settle
  })
}
