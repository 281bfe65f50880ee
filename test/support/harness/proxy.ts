/**
 * A TCP proxy in front of one etcd that simulates network faults. It closes, rejects, stalls or
 * delays connections, stops in the middle of a frame, or discards the data of one direction. It
 * does not change the bytes that it forwards. A connection that has lost bytes is eventually
 * closed.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket, connect } from 'node:net'

/**
 * Direction of data. 'up' means from the client to etcd, and 'down' means from etcd to the client.
 */
export type Direction = 'up' | 'down'

/**
 * How a connection is closed. 'reset' sends RST, and data that has not arrived yet is lost.
 * 'finish' sends FIN after all data that was sent.
 */
export type CutManner = 'reset' | 'finish'

/**
 * Maximum number of bytes that a delayed connection buffers. At this limit, the proxy stops reading
 * until some bytes have been forwarded.
 */
const DELAYED_BYTES_MAX = 1024 * 1024

type Cutoff = { readonly direction: Direction; readonly manner: CutManner; bytesLeft: number }

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #targetPort: number
  readonly #links = new Set<Link>()
  #refusing = false
  #stalled = false
  #delayMs = 0
  #swallowed: Direction | undefined
  #blocked: readonly string[] | 'all' = []
  #cutoff: Cutoff | undefined

  constructor(server: Server, targetPort: number) {
    this.#server = server
    this.#targetPort = targetPort
    server.on('connection', (client) => this.#accept(client))
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`
  }

  get connections(): number {
    return this.#links.size
  }

  /** Closes all current connections. New connections are accepted. */
  cut(manner: CutManner = 'reset'): void {
    for (const link of this.#links) link.cut(manner)
  }

  /** Resets new connections immediately. Existing connections continue. */
  refuse(): void {
    this.#refusing = true
  }

  /**
   * Stops forwarding data until `heal` is called. Existing connections stay open, and new ones are
   * accepted. No data is lost.
   */
  stall(): void {
    this.#stalled = true
    for (const link of this.#links) link.hold()
  }

  /** Delays each chunk by this time. The order is preserved. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Discards all data of one direction. `heal` then closes the connections that have lost data. */
  swallow(direction: Direction): void {
    this.#swallowed = direction
  }

  /**
   * Blocks the traffic from and to the members with these IDs, or all traffic. Works only for a
   * proxy in front of a member's peer address.
   */
  block(origins: readonly string[] | 'all'): void {
    this.#blocked = origins
  }

  /**
   * Forwards only this number of further bytes in one direction. Then closes the connection that
   * carried the last of them, usually in the middle of a frame. Has this effect only once.
   */
  cutAfter({
    bytes,
    direction,
    manner = 'finish',
  }: {
    bytes: number
    direction: Direction
    manner?: CutManner
  }): void {
    this.#cutoff = { bytesLeft: bytes, direction, manner }
  }

  /** Removes all faults. */
  heal(): void {
    this.#refusing = false
    this.#delayMs = 0
    this.#swallowed = undefined
    this.#blocked = []
    this.#cutoff = undefined
    this.#stalled = false
    for (const link of this.#links) {
      if (link.hasLostBytes) link.cut('reset')
      else link.release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await closed
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.on('error', ignoreSocketError)
      client.resetAndDestroy()
      return
    }
    const target = connect({ port: this.#targetPort, host: '127.0.0.1' })
    const link = new Link(client, target, (direction, chunk) => this.#treat(link, direction, chunk))
    this.#links.add(link)
    // Keep the link until both of its sockets are closed. One of them may wait for data that was
    // discarded. `cut` must still find the link and close this socket.
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket.once('close', () => {
        if (other.closed) this.#links.delete(link)
      })
    }
    if (this.#stalled) link.hold()
  }

  #isBlocked({ origin }: Link): boolean {
    return this.#blocked === 'all' || (origin !== undefined && this.#blocked.includes(origin))
  }

  #treat(link: Link, direction: Direction, chunk: Buffer): void {
    if (direction === 'up') link.noteOrigin(chunk)
    if (this.#swallowed === direction || this.#isBlocked(link)) {
      link.break(direction)
      return
    }
    const cutoff = this.#cutoff
    if (cutoff?.direction !== direction) {
      link.pass(direction, chunk, this.#delayMs)
      return
    }
    link.pass(direction, chunk.subarray(0, cutoff.bytesLeft), this.#delayMs)
    cutoff.bytesLeft -= chunk.length
    if (cutoff.bytesLeft > 0) return
    this.#cutoff = undefined
    link.break(direction, () => link.cut(cutoff.manner))
  }
}

/** The header with the ID of a peer in hexadecimal. Every request of a peer contains it. */
const originHeader = /\r\nX-Server-From: ([0-9a-f]+)\r\n/i
/** Number of bytes that are searched for the header. The headers of requests are shorter. */
const HEAD_BYTES_MAX = 2048

/** Starts a proxy on a free port in front of an etcd address. */
export async function startProxy(target: string): Promise<FaultProxy> {
  const server = createServer({ noDelay: true, allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return new FaultProxy(server, Number(new URL(target).port))
}

/** A client's connection and the corresponding connection to etcd. */
class Link {
  /** The ID of the member that opened the connection, if the client is a member. */
  origin: string | undefined
  readonly #ways: Readonly<Record<Direction, Way>>

  constructor(
    client: Socket,
    target: Socket,
    onChunk: (direction: Direction, chunk: Buffer) => void,
  ) {
    target.setNoDelay(true)
    this.#ways = { up: new Way(client, target), down: new Way(target, client) }
    for (const direction of ['up', 'down'] as const) {
      const way = this.#ways[direction]
      way.from.on('error', ignoreSocketError)
      way.from.on('data', (chunk) => onChunk(direction, chunk))
      way.from.on('end', () => way.finish(() => way.to.end()))
      way.from.on('close', (hadError) => {
        if (hadError) way.drop()
        way.finish(() => way.to.destroySoon())
      })
      way.to.on('close', () => way.drop())
    }
  }

  noteOrigin(chunk: Buffer): void {
    this.origin ??= originHeader.exec(chunk.toString('latin1', 0, HEAD_BYTES_MAX))?.[1]
  }

  get hasLostBytes(): boolean {
    return this.#ways.up.isBroken || this.#ways.down.isBroken
  }

  pass(direction: Direction, chunk: Buffer, delayMs: number): void {
    this.#ways[direction].pass(chunk, delayMs)
  }

  /** Discards all further data of one direction of the link. */
  break(direction: Direction, onLastPassed?: () => void): void {
    this.#ways[direction].break(onLastPassed)
  }

  hold(): void {
    for (const way of [this.#ways.up, this.#ways.down]) way.hold()
  }

  release(): void {
    for (const way of [this.#ways.up, this.#ways.down]) way.release()
  }

  cut(manner: CutManner): void {
    for (const { to } of [this.#ways.up, this.#ways.down]) {
      if (manner === 'reset') reset(to)
      else to.destroySoon()
    }
  }
}

/**
 * One direction of a link. Chunks are forwarded in the order of their arrival, each after its
 * delay.
 */
class Way {
  readonly from: Socket
  readonly to: Socket
  isBroken = false
  readonly #delayed: { readonly chunk: Buffer; readonly dueMs: number }[] = []
  #delayedBytes = 0
  #timer: NodeJS.Timeout | undefined
  #held = false
  #onEmpty: () => void = () => undefined

  constructor(from: Socket, to: Socket) {
    this.from = from
    this.to = to
  }

  pass(chunk: Buffer, delayMs: number): void {
    if (this.isBroken) return
    if (delayMs === 0 && this.#delayed.length === 0) {
      this.#write(chunk)
      return
    }
    this.#delayed.push({ chunk, dueMs: performance.now() + delayMs })
    this.#delayedBytes += chunk.length
    if (this.#delayedBytes > DELAYED_BYTES_MAX) this.from.pause()
    this.#schedule()
  }

  break(onLastPassed: () => void = () => undefined): void {
    this.isBroken = true
    if (this.to.writable) this.to.write('', onLastPassed)
  }

  hold(): void {
    this.#held = true
    this.from.pause()
  }

  release(): void {
    this.#held = false
    this.from.resume()
  }

  /** Ends the direction when all delayed chunks have been forwarded. */
  finish(end: () => void): void {
    // If data was lost, the receiver must not see a normal end of the connection. `cut` closes the
    // connection later.
    if (this.isBroken) return
    this.#onEmpty = end
    if (this.#delayed.length === 0) end()
  }

  drop(): void {
    clearTimeout(this.#timer)
    this.#delayed.length = 0
  }

  #schedule(): void {
    const first = this.#delayed[0]
    if (first === undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#flushDue(), Math.max(0, first.dueMs - performance.now()))
  }

  #flushDue(): void {
    this.#timer = undefined
    for (let first = this.#delayed[0]; first !== undefined; first = this.#delayed[0]) {
      if (first.dueMs > performance.now()) break
      this.#delayed.shift()
      this.#delayedBytes -= first.chunk.length
      this.#write(first.chunk)
    }
    if (this.#delayed.length === 0) this.#onEmpty()
    if (!this.#held && this.#delayedBytes <= DELAYED_BYTES_MAX) this.from.resume()
    this.#schedule()
  }

  #write(chunk: Buffer): void {
    if (!this.to.writable || this.to.write(chunk)) return
    this.from.pause()
    this.to.once('drain', () => {
      if (!this.#held) this.from.resume()
    })
  }
}

/**
 * Closes a socket with RST. Node 24 does not support this while the end of the socket is pending.
 * In this case, `destroy` is called, which also sends RST if unread data remains.
 */
function reset(socket: Socket): void {
  if (socket.connecting || socket.writableEnded || socket.writableLength > 0) socket.destroy()
  else socket.resetAndDestroy()
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  return address.port
}

/**
 * Ignores the error of a broken connection. The event 'close' follows, and its listener closes the
 * other side.
 */
function ignoreSocketError(): void {
  return
}
