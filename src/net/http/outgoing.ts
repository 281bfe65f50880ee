/**
 * The writing half of an exchange. Exchanges implement it on a connection, tests on anything
 * writable.
 */
import type { Headers } from '../../api/request.ts'

/** `length`: if it is known. `isEnd`: there is no body, and the head is the whole answer. */
export type BodyForm = { readonly length?: number | undefined; readonly isEnd?: boolean }

export interface Outgoing {
  /** False: the method is HEAD, and the answer has no body. */
  readonly takesBody: boolean
  /** The client has gone away: what is written is lost. */
  readonly isGone: boolean
  /** Whether the client wants large bodies compressed. */
  readonly takesGzip: () => boolean
  /**
   * Takes bytes of what the server may hold for its clients, until the answer has ended. False:
   * there is no room. Absent: there is.
   */
  readonly hold?: (bytes: number) => boolean
  readonly writeHead: (status: number, headers: Headers, body: BodyForm) => void
  /** Sends the headers before there is a body. */
  readonly flushHead: () => void
  /**
   * True: the bytes have been taken, and the memory of the parts may be reused. False: `onTaken`
   * will be called when that is so, or when the client has gone. One write at a time. Never fails.
   */
  readonly write: (parts: readonly Buffer[], onTaken: () => void) => boolean
  /** Writes the last bytes and ends the answer. The parts must not change until they are sent. */
  readonly end: (parts?: readonly Buffer[]) => void
  /** Ends the answer with headers after its body, all of which has been taken. */
  readonly endWith: (trailers: Headers) => void
  /**
   * Called once, when the client goes away or the server stops. At once when that has happened
   * already.
   */
  readonly onClose: (close: () => void) => void
}

/** False when the client has gone away. */
export function write(outgoing: Outgoing, parts: readonly Buffer[]): Promise<boolean> | boolean {
  let resolve: ((isHere: boolean) => void) | undefined
  if (outgoing.write(parts, () => resolve?.(!outgoing.isGone))) return !outgoing.isGone
  return new Promise((settle) => {
    resolve = settle
  })
}
