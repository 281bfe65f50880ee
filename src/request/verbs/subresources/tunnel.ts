/**
 * A tunnel is an upgraded connection. Bytes are copied in both directions until one side closes the
 * connection.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { serviceUnavailable } from '../../../api/errors.ts'
import { answerHeaders, requestHeaders } from '../../../api/proxied-headers.ts'
import type { ApiRequest, ApiResponse, Headers } from '../../../api/request.ts'
import { join } from '../../../lib/net/join-streams.ts'
import { chunksOf, type ForwardOptions, open } from './forward.ts'

export type TunnelTo = Pick<
  ForwardOptions,
  'url' | 'address' | 'rawQuery' | 'method' | 'kubelet' | 'dial'
> & {
  /** Maximum bytes per second for each direction. 0 means no limit. */
  readonly bytesPerSecondMax: number
}

/**
 * Opens a tunnel. Fails with ServiceUnavailable if the backend cannot be reached. If the backend
 * refuses the upgrade, its response is returned to the client.
 */
export async function tunnel(
  http: ApiRequest,
  { bytesPerSecondMax, ...to }: TunnelTo,
): Promise<ApiResponse> {
  // The body of the request is not forwarded, so the header content-length is also removed.
  // Otherwise, a backend that refuses the upgrade would read the next request as the body.
  const { 'content-length': _length, ...passed } = requestHeaders(http)
  const headers = { ...passed, connection: 'Upgrade', upgrade: http.headers.upgrade ?? '' }
  const answer = await upgraded({ ...to, headers, signal: http.signal }).catch((error: Error) => {
    throw serviceUnavailable(`error trying to reach service: ${error.message}`, error)
  })
  const { message, socket } = answer
  if (socket === undefined) {
    return {
      status: message.statusCode ?? 502,
      headers: answerHeaders(message.headers),
      stream: chunksOf(message),
    }
  }
  const agreed: Headers = {
    ...answerHeaders(message.headers),
    connection: 'Upgrade',
    upgrade: message.headers.upgrade ?? '',
  }
  return {
    status: 101,
    headers: agreed,
    tunnel: (client) => join(client, socket, bytesPerSecondMax),
  }
}

type UpgradeResult = { readonly message: IncomingMessage; readonly socket: Duplex | undefined }

function upgraded(wanted: Parameters<typeof open>[0]): Promise<UpgradeResult> {
  return new Promise((resolve, reject) => {
    const outgoing = open(wanted)
    outgoing.on('response', (message) => resolve({ message, socket: undefined }))
    outgoing.on('upgrade', (message, socket, head) => {
      // Node has removed its own error listener from the socket. Without a listener, a socket error
      // before the tunnel is joined would terminate the process.
      socket.on('error', () => undefined)
      if (head.length > 0) socket.unshift(head)
      resolve({ message, socket })
    })
    outgoing.on('error', reject)
    outgoing.on('close', () => reject(new Error('EOF')))
    outgoing.end()
  })
}
