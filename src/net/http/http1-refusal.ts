/**
 * Responds to a malformed HTTP/1.1 request, or to a request whose headers are too large, as Node's
 * HTTP server would. Delays closing the connection, so that the client can read the response.
 */
import type { Duplex } from 'node:stream'

/**
 * How long incoming data is read and discarded before the socket closes, as in Go's server. If a
 * socket closes while its client still sends, the connection is reset and the response is lost.
 */
const RESET_AVOIDANCE_MS = 500

const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/**
 * `isAnswering` means that another response is being sent on the connection. The connection is then
 * closed without an error response.
 */
export function refuseHttp1(
  socket: Duplex,
  { code }: NodeJS.ErrnoException,
  isAnswering: boolean,
): void {
  // Bytes that follow a malformed request cause more errors, which are ignored.
  if (socket.writableEnded) return
  if (isAnswering || !socket.writable) return void socket.destroy()
  socket.end(`HTTP/1.1 ${statuses.get(code) ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  setTimeout(() => socket.destroy(), RESET_AVOIDANCE_MS).unref()
}
