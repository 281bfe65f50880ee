/**
 * A TCP load balancer like those in front of API servers. It polls /readyz and assigns new
 * connections to ready replicas.
 */
import { once } from 'node:events'
import { Agent, get } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

const POLL_MS = 100
/**
 * Maximum time to wait for the response to a poll. A replica on a busy machine can need this long.
 */
const ANSWER_MS_MAX = 2_000

export class Balancer implements AsyncDisposable {
  readonly #server: Server
  readonly #ports: readonly number[]
  readonly #ready = new Set<number>()
  readonly #sockets = new Set<Socket>()
  /**
   * Keeps one connection to each replica open. A TLS handshake for each poll would use more CPU
   * time than the load.
   */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  readonly #polling: NodeJS.Timeout[]
  #turn = 0

  constructor(ports: readonly number[]) {
    this.#ports = ports
    this.#server = createServer((client) => this.#pass(client, this.#ports.length))
    this.#polling = ports.map((port) => this.#poll(port))
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  get url(): string {
    const address: AddressInfo | string | null = this.#server.address()
    return `https://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`
  }

  isReady(port: number): boolean {
    return this.#ready.has(port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const polling of this.#polling) clearInterval(polling)
    this.#agent.destroy()
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #poll(port: number): NodeJS.Timeout {
    let isAsking = false
    return setInterval(() => {
      if (isAsking) return
      isAsking = true
      const know = (isReady: boolean): void => {
        isAsking = false
        if (isReady) this.#ready.add(port)
        else this.#ready.delete(port)
      }
      const options = { agent: this.#agent, timeout: ANSWER_MS_MAX }
      const asked = get(`https://127.0.0.1:${port}/readyz`, options, (answer) => {
        answer.resume()
        know(answer.statusCode === 200)
      })
      asked.on('timeout', () => asked.destroy()).on('error', () => know(false))
    }, POLL_MS)
  }

  /**
   * Connects a client to the next replica. If the replica refuses the connection, tries the next
   * one, as load balancers do.
   */
  #pass(client: Socket, tries: number): void {
    this.#track(client)
    const ready = this.#ports.filter((port) => this.#ready.has(port))
    // If no replica seems ready, the machine is probably slow. In that case use all replicas, as
    // other load balancers do.
    const taking = ready.length === 0 ? this.#ports : ready
    const port = taking[this.#turn++ % taking.length]
    if (port === undefined || tries === 0) return void client.destroy()
    const server = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#track(server)
    server.once('error', () => this.#pass(client, tries - 1))
    server.once('connect', () => {
      server.removeAllListeners('error')
      server.on('error', () => server.destroy())
      this.#join(client, server)
    })
  }

  #track(socket: Socket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }

  #join(client: Socket, server: Socket): void {
    client.setNoDelay(true)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('close', () => other.destroySoon())
      one.on('error', () => other.destroy())
      one.pipe(other)
    }
  }
}
