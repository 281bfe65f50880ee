/**
 * The writing half of an exchange. Exchanges implement it on a connection, tests on anything
 * writable.
 */
import type { Headers } from '../../api/request.ts'

/**
 * The form of a body. `length` is set if it is known. `isEnd` means that there is no body, so that
 * the head is the whole response.
 */
export type BodyForm = { readonly length?: number | undefined; readonly isEnd?: boolean }

export interface Outgoing {
  /** Whether the response may have a body. False if the method is HEAD. */
  readonly takesBody: boolean
  /** Whether the client has disconnected, so that written data is lost. */
  readonly isGone: boolean
  /** Whether the client wants large bodies compressed. */
  readonly takesGzip: () => boolean
  /**
   * Reserves memory that the server holds for its clients, until the response has ended. Returns
   * false if there is no room. If absent, there always is.
   */
  readonly hold?: (bytes: number) => boolean
  readonly writeHead: (status: number, headers: Headers, body: BodyForm) => void
  /** Sends the headers before there is a body. */
  readonly flushHead: () => void
  /**
   * Writes data. Returns true if the bytes have been taken, so that the memory of the parts may be
   * reused. Otherwise `onTaken` is called when that is so, or when the client has disconnected.
   * There may be one write at a time. Never throws.
   */
  readonly write: (parts: readonly Buffer[], onTaken: () => void) => boolean
  /** Writes the last bytes and ends the response. The parts must not change until they are sent. */
  readonly end: (parts?: readonly Buffer[]) => void
  /** Ends the response with trailers. The whole body must have been taken before. */
  readonly endWith: (trailers: Headers) => void
  /**
   * Registers a function that is called once, when the client disconnects or the server stops. If
   * that has already happened, it is called immediately.
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
