/**
 * A request to upgrade its connection to another protocol. The response can also be an ordinary
 * one.
 */
import type { Duplex } from 'node:stream'
import type { ApiResponse } from '../../api/request.ts'
import type { Head } from './exchange.ts'
import { Http1Exchange, type Http1Half } from './http1-exchange.ts'

type Half = Omit<Http1Half, 'isClosing'> & { readonly socket: Duplex }

export class UpgradeExchange extends Http1Exchange {
  readonly #half: Half

  constructor(head: Head, half: Half) {
    // The bytes that follow on the connection might not be HTTP, so the connection is closed after
    // an ordinary response.
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
