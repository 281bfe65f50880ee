/**
 * The address of a cluster, from before there is a server behind it: a fork has its URL at once,
 * and its server is started by the first client. Connections that come meanwhile wait.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Listener } from '../../net/http/listener.ts'

const address = '127.0.0.1'

export class LazyListener {
  readonly #server: Server
  readonly #waiting = new Set<Socket>()
  #isHandedOver = false

  /** `onConnection`: called for each connection until a server is attached. */
  static async open(onConnection: () => void): Promise<LazyListener> {
    const server = createServer({ noDelay: true })
    const listener = new LazyListener(server, onConnection)
    server.listen(0, address)
    await once(server, 'listening')
    // A cluster that a test forgot does not keep the process alive.
    server.unref()
    return listener
  }

  private constructor(server: Server, onConnection: () => void) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#waiting.add(socket)
      socket.on('close', () => this.#waiting.delete(socket))
      // Also once it is handed over: the listener then has its own.
      socket.on('error', () => socket.destroy())
      onConnection()
    })
  }

  get url(): string {
    const at = this.#server.address()
    return `https://${address}:${typeof at === 'object' && at !== null ? at.port : 0}`
  }

  /** From now on the listener accepts the connections; it gets those that wait. */
  async handOver(listener: Listener): Promise<void> {
    this.#isHandedOver = true
    await listener.takeOver(this.#server)
    for (const socket of this.#waiting) listener.accept(socket)
    this.#waiting.clear()
  }

  /** Does nothing after it was handed over: the listener closes the address then. */
  close(): void {
    if (this.#isHandedOver) return
    this.#server.close()
    for (const socket of this.#waiting) socket.destroy()
  }
}
