/**
 * Sends a request to a remote server that asks to switch to another protocol (SPDY, WebSocket).
 * Each such request has its own connection.
 */
import { request as open } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { RemoteRequest, UpgradeAnswer } from './remote-request.ts'
import { outgoing } from './send-http1.ts'

/** Thrown if the server closed the connection without a response. */
export class UnansweredUpgrade extends Error {
  override readonly name = 'UnansweredUpgrade'
}

/**
 * Sends the request. Fails with an UnansweredUpgrade if the server closes the connection without a
 * response.
 */
export function sendUpgrade(
  { method, path, headers, signal }: Omit<RemoteRequest, 'pipeBody'>,
  authority: string,
  connection: TLSSocket,
): Promise<UpgradeAnswer> {
  return new Promise((resolve, reject) => {
    const sent = open({
      method,
      path,
      createConnection: () => connection,
      headers: { ...outgoing(headers), host: authority },
      signal,
    })
    sent.on('response', (message) => resolve({ message, socket: undefined }))
    sent.on('upgrade', (message, socket, first) => {
      if (first.length > 0) socket.unshift(first)
      resolve({ message, socket })
    })
    sent.on('error', (cause) => reject(new UnansweredUpgrade('unexpected EOF', { cause })))
    sent.on('close', () => reject(new UnansweredUpgrade('unexpected EOF')))
    sent.end()
  })
}
