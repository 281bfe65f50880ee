/**
 * Answers a malformed HTTP/1.1 request, or one with too large a head, as Node's server would, and
 * closes the connection in a way that lets the client read the answer.
 */
import type { Duplex } from 'node:stream'

/**
 * A socket that is closed while its client still sends resets the connection, and the answer is
 * lost. What comes meanwhile is read and dropped for this long; as Go's server.
 */
const RESET_AVOIDANCE_MS = 500

const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/**
 * `isAnswering`: another request of the connection is being answered, so that this answer cannot be
 * sent.
 */
export function refuseHttp1(
  socket: Duplex,
  { code }: NodeJS.ErrnoException,
  isAnswering: boolean,
): void {
  // Bytes that come after a malformed request fail again.
  if (socket.writableEnded) return
  if (isAnswering || !socket.writable) return void socket.destroy()
  socket.end(`HTTP/1.1 ${statuses.get(code) ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  setTimeout(() => socket.destroy(), RESET_AVOIDANCE_MS).unref()
}
