/**
 * Responds to a malformed HTTP/1.1 request, or to one whose head is too large, as Node's server
 * would. Closes the connection in a way that lets the client read the response.
 */
import type { Duplex } from 'node:stream'

/**
 * How long incoming data is read and dropped before the socket closes, as in Go's server. Closing a
 * socket while its client still sends resets the connection, and the response is lost.
 */
const RESET_AVOIDANCE_MS = 500

const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/**
 * `isAnswering` means that another response is being sent on the connection, so that this one
 * cannot be sent.
 */
export function refuseHttp1(
  socket: Duplex,
  { code }: NodeJS.ErrnoException,
  isAnswering: boolean,
): void {
  // Bytes that follow a malformed request cause further errors.
  if (socket.writableEnded) return
  if (isAnswering || !socket.writable) return void socket.destroy()
  socket.end(`HTTP/1.1 ${statuses.get(code) ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  setTimeout(() => socket.destroy(), RESET_AVOIDANCE_MS).unref()
}
