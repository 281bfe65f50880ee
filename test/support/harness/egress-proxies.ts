/**
 * Proxies that `--egress-selector-config-file` can name, each as small as its protocol allows. One
 * speaks HTTP CONNECT over TLS or over a Unix domain socket. The other speaks konnectivity's
 * protocol (gRPC on Node's own HTTP/2). Both record the addresses to which clients want to connect.
 */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import {
  createServer as createHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { portOf } from './port-of.ts'

export type EgressProxyServer = AsyncDisposable & {
  /** Requested addresses, in order, such as `127.0.0.1:443`. */
  readonly dialed: readonly string[]
  /** Port, or 0 for a Unix domain socket. */
  readonly port: number
  /** Returns the number of open tunnels. */
  readonly openTunnels: () => number
  /** Returns the number of connections since the start. */
  readonly connections: () => number
  /** Closes all connections that pass through the proxy. */
  readonly cut: () => void
}

export type ConnectProxyOptions = {
  /** Path of the Unix domain socket. If absent, the proxy listens on a port. */
  readonly path?: string
  /** TLS files. If absent, the proxy does not use TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string }
  /** Status with which every tunnel is rejected. */
  readonly refusal?: number
}

export async function startConnectProxy({
  path,
  tls,
  refusal,
}: ConnectProxyOptions): Promise<EgressProxyServer> {
  const dialed: string[] = []
  const tunnels = new Set<Duplex>()
  const connections = new Set<Socket>()
  let connectionsMade = 0
  const server =
    tls === undefined
      ? createServer()
      : createTlsServer({
          ...tls,
          requestCert: true,
          rejectUnauthorized: true,
          ALPNProtocols: ['http/1.1'],
        })
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    connectionsMade++
    socket.once('close', () => connections.delete(socket))
  })
  server.on('connect', ({ url = '' }: IncomingMessage, near: Duplex) => {
    dialed.push(url)
    if (refusal !== undefined) return void near.end(`HTTP/1.1 ${refusal} No Way\r\n\r\n`)
    const far = connect(addressOf(url))
    far.once('connect', () => {
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      near.pipe(far).pipe(near)
    })
    tunnels.add(near)
    near.once('close', () => tunnels.delete(near))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await listen(server, path)
  const port = path === undefined ? portOf(server) : 0
  const cut = (): void => {
    for (const tunnel of tunnels) tunnel.destroy()
  }
  return {
    dialed,
    port,
    openTunnels: () => tunnels.size,
    connections: () => connectionsMade,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
      for (const socket of connections) socket.destroy()
      await once(server, 'close')
    },
  }
}

function addressOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) }
}

async function listen(server: Server, path: string | undefined): Promise<void> {
  if (path === undefined) server.listen(0, '127.0.0.1')
  else {
    rmSync(path, { force: true })
    server.listen(path)
  }
  await once(server, 'listening')
}

const [DIAL_REQ, DIAL_RSP, CLOSE_REQ, CLOSE_RSP, DATA, DIAL_CLS] = [0, 1, 2, 3, 4, 5]

export type GrpcProxyOptions = {
  readonly path: string
  /**
   * Error in the response to every request for a connection. If it is `silence`, the proxy does not
   * respond at all.
   */
  readonly refusal?: string
  /**
   * Called before the proxy responds to a request for a connection. `bytes` is the number of bytes
   * that it has received on this stream.
   */
  readonly onDialed?: (stream: ServerHttp2Stream, bytes: number) => void
}

/**
 * A proxy for konnectivity's protocol. `packets` contains the types of all packets that it has
 * received.
 */
export type GrpcProxyServer = EgressProxyServer & { readonly packets: readonly number[] }

export async function startGrpcProxy({
  path,
  refusal,
  onDialed,
}: GrpcProxyOptions): Promise<GrpcProxyServer> {
  const dialed: string[] = []
  const packets: number[] = []
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  let connectionsMade = 0
  const server = createHttp2Server()
  server.on('session', (session) => {
    sessions.add(session)
    connectionsMade++
    session.on('error', () => session.destroy())
    session.once('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, { ':path': asked }) => {
    if (asked !== '/ProxyService/Proxy') {
      return stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': 12 },
        { endStream: true },
      )
    }
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
    stream.on('error', () => stream.destroy())
    serve(stream, { dialed, packets, sockets, refusal, onDialed })
  })
  await listen(server, path)
  const cut = (): void => {
    for (const session of sessions) session.destroy()
  }
  return {
    dialed,
    packets,
    port: 0,
    openTunnels: () => sockets.size,
    connections: () => connectionsMade,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

type TunnelOptions = {
  readonly dialed: string[]
  readonly packets: number[]
  readonly sockets: Set<Socket>
  readonly refusal: string | undefined
  readonly onDialed: GrpcProxyOptions['onDialed']
}

let lastConnection = 7

/** Serves one tunnel, which is one stream. */
function serve(stream: ServerHttp2Stream, options: TunnelOptions): void {
  const id = BigInt(++lastConnection)
  let far: Socket | undefined
  let received = Buffer.alloc(0)
  let receivedBytes = 0
  const take = (packet: Buffer): void => {
    const fields = fieldsOf(packet)
    const type = Number(numberOf(fields.get(1) ?? 0n))
    options.packets.push(type)
    if (type === DIAL_REQ) {
      const request = fieldsOf(bytesOf(fields.get(2)))
      far = dial(stream, { ...options, id, request, receivedBytes: () => receivedBytes })
    } else if (type === DATA) {
      const taken = far?.write(bytesOf(fieldsOf(bytesOf(fields.get(4))).get(3)))
      if (taken !== false) return
      stream.pause()
      far?.once('drain', () => stream.resume())
    } else if (type === CLOSE_REQ || type === DIAL_CLS) far?.end()
  }
  stream.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    receivedBytes += chunk.length
    while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
      const end = 5 + received.readUInt32BE(1)
      take(received.subarray(5, end))
      received = received.subarray(end)
    }
  })
  stream.once('close', () => far?.destroy())
  stream.once('end', () => (far === undefined ? stream.end() : undefined))
}

type DialOptions = TunnelOptions & {
  /** Number that identifies the connection. */
  readonly id: bigint
  readonly request: ReadonlyMap<number, Field>
  readonly receivedBytes: () => number
}

/**
 * Connects to the requested address, and forwards data in both directions. Returns undefined if the
 * proxy rejects the request.
 */
function dial(
  stream: ServerHttp2Stream,
  { dialed, sockets, refusal, onDialed, id, request, receivedBytes }: DialOptions,
): Socket | undefined {
  const address = textOf(request.get(2))
  const random = numberOf(request.get(3) ?? 0n)
  dialed.push(address)
  const answer = (type: number, payloadField: number, payload: Buffer): boolean =>
    stream.destroyed || stream.writableEnded
      ? true
      : stream.write(framed(message(type, payloadField, payload)))
  const respond = (error: string): void => {
    const failed = error === '' ? [] : [bytesField(1, Buffer.from(error))]
    answer(DIAL_RSP, 3, Buffer.concat([...failed, numberField(2, id), numberField(3, random)]))
  }
  if (refusal === 'silence') return undefined
  if (refusal !== undefined) {
    respond(refusal)
    return undefined
  }
  const socket = connect(addressOf(address))
  socket.once('connect', () => {
    sockets.add(socket)
    onDialed?.(stream, receivedBytes())
    respond('')
  })
  socket.once('error', (error) =>
    sockets.has(socket) ? undefined : respond(`dial tcp ${address}: ${error.message}`),
  )
  socket.on('data', (chunk: Buffer) => {
    if (answer(DATA, 4, Buffer.concat([numberField(1, id), bytesField(3, chunk)]))) return
    socket.pause()
    stream.once('drain', () => socket.resume())
  })
  socket.once('close', () => {
    sockets.delete(socket)
    answer(CLOSE_RSP, 6, numberField(2, id))
    if (!stream.writableEnded) stream.end()
  })
  return socket
}

type Field = bigint | Buffer

const textOf = (field: Field | undefined): string => bytesOf(field).toString()
const bytesOf = (field: Field | undefined): Buffer =>
  Buffer.isBuffer(field) ? field : Buffer.alloc(0)
const numberOf = (field: Field): bigint => (typeof field === 'bigint' ? field : 0n)

/** Parses a protobuf message that contains only numbers, strings and messages. */
function fieldsOf(bytes: Buffer): Map<number, Field> {
  const fields = new Map<number, Field>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    if (tag % 8 === 0) fields.set(tag >> 3, varint())
    else {
      const length = Number(varint())
      fields.set(tag >> 3, bytes.subarray(at, at + length))
      at += length
    }
  }
  return fields
}

function varintBytes(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

const numberField = (field: number, value: bigint): Buffer =>
  Buffer.concat([varintBytes(BigInt(field * 8)), varintBytes(value)])

const bytesField = (field: number, value: Buffer): Buffer =>
  Buffer.concat([varintBytes(BigInt(field * 8 + 2)), varintBytes(BigInt(value.length)), value])

const message = (type: number, payloadField: number, payload: Buffer): Buffer =>
  Buffer.concat([numberField(1, BigInt(type)), bytesField(payloadField, payload)])

function framed(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}
