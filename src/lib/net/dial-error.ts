/** Errors of connections, with Go's messages. */
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

/** Keeps the code of a socket's error, by which callers tell what to do next. */
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
 * `network` and `address` are those of the proxy. An error that is not of the socket, such as one
 * about a certificate, is kept.
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

/** The caller has given up. */
export const dialAborted = (): Error =>
  new DOMException('the connection was given up', 'AbortError')

/** Errors of a kept connection that the other end was just closing when it was used again. */
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

export const isLostBy = (error: Error): boolean => 'code' in error && lostCodes.has(error.code)
