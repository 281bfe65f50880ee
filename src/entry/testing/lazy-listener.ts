/**
 * The listener of a cluster whose server may not be running yet. A fork has a URL immediately, but
 * its server starts only when the first client connects. Connections wait until the server runs.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Listener } from '../../net/http/listener.ts'

const address = '127.0.0.1'

export class LazyListener {
  readonly #server: Server
  readonly #waiting = new Set<Socket>()
  #isHandedOver = false

  /** Begins to listen. Calls `onConnection` for each connection until a server takes over. */
  static async open(onConnection: () => void): Promise<LazyListener> {
    const server = createServer({ noDelay: true })
    const listener = new LazyListener(server, onConnection)
    server.listen(0, address)
    await once(server, 'listening')
    // Do not keep the process alive for a cluster that a test did not stop.
    server.unref()
    return listener
  }

  private constructor(server: Server, onConnection: () => void) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#waiting.add(socket)
      socket.on('close', () => this.#waiting.delete(socket))
      // Handle errors of connections that wait. This handler is not removed when a server takes
      // over, but the server adds its own.
      socket.on('error', () => socket.destroy())
      onConnection()
    })
  }

  get url(): string {
    const at = this.#server.address()
    return `https://${address}:${typeof at === 'object' && at !== null ? at.port : 0}`
  }

  /** Hands the address and the waiting connections over to a listener. */
  async handOver(listener: Listener): Promise<void> {
    this.#isHandedOver = true
    await listener.takeOver(this.#server)
    for (const socket of this.#waiting) listener.accept(socket)
    this.#waiting.clear()
  }

  /**
   * Closes the address. Does nothing after a handover, because the new listener closes the address.
   */
  close(): void {
    if (this.#isHandedOver) return
    this.#server.close()
    for (const socket of this.#waiting) socket.destroy()
  }
}
