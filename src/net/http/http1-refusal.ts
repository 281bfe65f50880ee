/**
 * Responds to an HTTP/1.1 request that is malformed or has too large headers, with the same
 * response as Node's HTTP server. Then waits before it closes the connection, so that the client
 * can read the response.
 */
import type { Duplex } from 'node:stream'

/**
 * For how long data from the client is still read and discarded before the socket closes, as in
 * Go's server. If the socket closed while the client still sends data, the client would get a reset
 * instead of the response.
 */
const RESET_AVOIDANCE_MS = 500

const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/**
 * Sends the error response. If `isAnswering` is true, another response is incomplete on the same
 * connection, so the connection is closed without an error response.
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
