/** A TCP proxy in front of an endpoint, for tests that break connections or delay responses. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Proxy = AsyncDisposable & {
  readonly url: string
  /** Number of connections made through the proxy so far. */
  readonly connections: () => number
  /** Closes all open connections immediately. New connections are still accepted. */
  readonly cut: () => void
  /** Holds back the responses on open connections, while requests still reach etcd. */
  readonly holdAnswers: () => void
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    const upstream = connect(Number(port), hostname)
    upstreams.add(upstream)
    for (const one of [socket, upstream]) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        upstreams.delete(one)
        socket.destroy()
        upstream.destroy()
      })
    }
    socket.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => socket.write(chunk))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${own}`,
    connections: () => connections,
    cut,
    holdAnswers: () => {
      for (const upstream of upstreams) upstream.pause()
    },
    [Symbol.asyncDispose]: async () => {
      cut()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
