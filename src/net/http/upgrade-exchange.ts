/**
 * A request to upgrade its connection to another protocol. The server either upgrades the
 * connection or sends an ordinary response.
 */
import type { Duplex } from 'node:stream'
import type { ApiResponse } from '../../api/request.ts'
import type { Head } from './exchange.ts'
import { Http1Exchange, type Http1Half } from './http1-exchange.ts'

type Half = Omit<Http1Half, 'isClosing'> & { readonly socket: Duplex }

export class UpgradeExchange extends Http1Exchange {
  readonly #half: Half

  constructor(head: Head, half: Half) {
    // After an ordinary response, close the connection: the client may have sent more bytes, which
    // need not be HTTP.
    super(head, { ...half, isClosing: () => true })
    this.#half = half
  }

  /** Passes the connection to the tunnel. The tunnel is closed when the exchange is closed. */
  handOver({ status, headers, tunnel, close }: Extract<ApiResponse, { tunnel: unknown }>): void {
    const { response, socket } = this.#half
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}\r\n`),
    )
    response.detachSocket(this.#half.request.socket)
    socket.write(`HTTP/1.1 ${status} Switching Protocols\r\n${lines.join('')}\r\n`)
    this.onClose(close ?? (() => socket.destroy()))
    tunnel(socket)
  }
}
