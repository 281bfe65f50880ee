/** Errors of network connections, with the messages of Go's net package. */
import { messageOf } from '../errors.ts'

const words: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  ENOENT: 'connect: no such file or directory',
  EACCES: 'connect: permission denied',
  ENOTSOCK: 'connect: socket operation on non-socket',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  ECONNRESET: 'read: connection reset by peer',
}

/**
 * A connection error. Has the code of the socket's error, so that callers can decide whether to
 * retry.
 */
export class DialError extends Error {
  override readonly name = 'DialError'
  readonly code: string

  constructor(
    message: string,
    { code = '', cause }: { readonly code?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Converts an error to a DialError with Go's message. `address` is the address to which the socket
 * connected: the server or its proxy. An error that does not come from the socket, such as a
 * certificate error, is returned unchanged.
 */
export function dialError(network: 'tcp' | 'unix', address: string, error: unknown): Error {
  if (error instanceof DialError) return error
  const code = codeOf(error)
  const word = words[code]
  if (word !== undefined)
    return new DialError(`dial ${network} ${address}: ${word}`, { code, cause: error })
  if (code === 'ENOTFOUND') {
    const host = address.slice(0, address.lastIndexOf(':'))
    return new DialError(`dial ${network}: lookup ${host}: no such host`, { code, cause: error })
  }
  return error instanceof Error ? error : new DialError(messageOf(error))
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The error for a connection attempt that the caller has aborted. */
export const dialAborted = (): Error =>
  new DOMException('the connection attempt was aborted', 'AbortError')

/**
 * Error codes of a kept-alive connection that the other end closed at the moment when it was
 * reused.
 */
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

export const isLostBy = (error: Error): boolean => 'code' in error && lostCodes.has(error.code)
