import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { ServerHttp2Stream } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import {
  startConnectProxy,
  startGrpcProxy,
  type EgressProxyServer,
} from '../../../test/support/harness/egress-proxies.ts'
import { portOf } from '../../../test/support/harness/port-of.ts'
import { until } from '../../../test/support/harness/until.ts'
import type { EgressProxy } from './egress-config.ts'
import { systemClock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { DialedTlsAgent } from '../../lib/net/dialed-agents.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { createAuthority, createSelfSigned, issue } from '../../lib/x509/certificates.ts'
import { createEgress } from './dialer.ts'
import { dataPacket } from './packets.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-egress-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string): string => join(folder, name)

const authority = createAuthority('proxies', Date.now())
const proxyCertificate = createSelfSigned('proxy', ['127.0.0.1'], Date.now())
const client = issue(authority, {
  commonName: 'keelson',
  usage: 'client',
  hosts: [],
  nowMs: Date.now(),
})
writeFileSync(at('ca.pem'), proxyCertificate.certificatePem)
writeFileSync(at('other-ca.pem'), authority.certificatePem)
writeFileSync(at('client.pem'), client.certificatePem)
writeFileSync(at('client.key'), client.keyPem)

type StartedProxy = EgressProxyServer & { readonly proxy: EgressProxy }

const tls = { caPath: at('ca.pem'), certificatePath: at('client.pem'), keyPath: at('client.key') }

let sockets = 0
const newPath = (): string => at(`proxy-${++sockets}.sock`)

const kinds: { readonly [name: string]: () => Promise<StartedProxy> } = {
  'HTTP CONNECT over TLS': async () => {
    const { certificatePem: cert, keyPem: key } = proxyCertificate
    const server = await startConnectProxy({ tls: { cert, key, ca: authority.certificatePem } })
    return {
      ...server,
      proxy: {
        protocol: 'http-connect',
        transport: 'tcp',
        address: `127.0.0.1:${server.port}`,
        tls,
      },
    }
  },
  'HTTP CONNECT without TLS': async () => {
    const server = await startConnectProxy({})
    return {
      ...server,
      proxy: {
        protocol: 'http-connect',
        transport: 'tcp',
        address: `127.0.0.1:${server.port}`,
        tls: null,
      },
    }
  },
  'HTTP CONNECT over a Unix domain socket': async () => {
    const path = newPath()
    return {
      ...(await startConnectProxy({ path })),
      proxy: { protocol: 'http-connect', transport: 'uds', path },
    }
  },
  'gRPC over a Unix domain socket': async () => {
    const path = newPath()
    return {
      ...(await startGrpcProxy({ path })),
      proxy: { protocol: 'grpc', transport: 'uds', path },
    }
  },
}

type DialTo = (
  to: { readonly host: string; readonly port: number },
  signal?: AbortSignal,
) => Promise<Duplex>

function dialerOf(proxy: EgressProxy): {
  readonly dial: DialTo
  readonly cluster: Dial
  readonly metrics: Metrics
} {
  const metrics = new Metrics()
  const { cluster } = createEgress({ cluster: proxy }, metrics, systemClock)
  assert.ok(cluster !== undefined)
  const never = new AbortController().signal
  return { dial: ({ host, port }, signal = never) => cluster(host, port, signal), cluster, metrics }
}

for (const [name, start] of Object.entries(kinds)) {
  describe(name, () => {
    const near: Socket[] = []
    const echo = createServer({ allowHalfOpen: false }, (socket) => {
      near.push(socket)
      socket.on('error', () => socket.destroy())
      socket.pipe(socket)
    })
    let server: StartedProxy
    let dial: DialTo
    let cluster: Dial
    let metrics: Metrics
    let to: { host: string; port: number }
    before(async () => {
      server = await start()
      ;({ dial, cluster, metrics } = dialerOf(server.proxy))
      echo.listen(0, '127.0.0.1')
      await once(echo, 'listening')
      to = { host: '127.0.0.1', port: portOf(echo) }
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      echo.close()
      for (const socket of near) socket.destroy()
    })

    test('bytes pass through the tunnel in both directions, and the proxy receives the target address', async () => {
      const socket = await dial(to)
      socket.write('hello')
      const [chunk] = await once(socket, 'data')
      assert.equal(String(chunk), 'hello')
      assert.equal(server.dialed.at(-1), `127.0.0.1:${to.port}`)
      socket.destroy()
      await until(() => server.openTunnels() === 0, 'the proxy has no tunnel left')
    })

    test('a large amount of data arrives unchanged when the reader is slow', async () => {
      const socket = await dial(to)
      const sent = randomBytes(6 << 20)
      const hash = createHash('sha256')
      let bytes = 0
      socket.on('data', (chunk: Buffer) => {
        hash.update(chunk)
        bytes += chunk.length
        socket.pause()
        setImmediate(() => socket.resume())
      })
      for (let from = 0; from < sent.length; from += 200_000) {
        if (!socket.write(sent.subarray(from, from + 200_000))) await once(socket, 'drain')
      }
      await until(() => bytes === sent.length, 'all has come back')
      assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'))
      socket.destroy()
    })

    test('when the client stops reading, backpressure stops the far end from sending', async () => {
      let written = 0
      const firehose = createServer((socket) => {
        socket.on('error', () => socket.destroy())
        const chunk = Buffer.alloc(64 << 10)
        const push = (): void => {
          while (!socket.destroyed && written < 256 << 20) {
            written += chunk.length
            if (!socket.write(chunk)) return void socket.once('drain', push)
          }
        }
        push()
      })
      firehose.listen(0, '127.0.0.1')
      await once(firehose, 'listening')
      const socket = await dial({ host: '127.0.0.1', port: portOf(firehose) })
      let last = -1
      // Wait until the far end has written nothing for half a second. This shows that the far end
      // is blocked.
      for (let still = 0; still < 10; still = written === last ? still + 1 : 0) {
        last = written
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      assert.ok(written < 64 << 20, `${written} bytes were accepted but not read`)
      socket.destroy()
      firehose.close()
    })

    test('when the far end closes its connection, the tunnel ends as well', async () => {
      const socket = await dial(to)
      const begun = near.length
      socket.write('x')
      await once(socket, 'data')
      const ended = once(socket, 'end')
      const closed = once(socket, 'close')
      near.at(begun - 1)?.end('last words')
      const [words] = await once(socket, 'data')
      assert.equal(String(words), 'last words')
      await ended
      await closed
    })

    test('when the proxy cuts a tunnel, the socket closes', async () => {
      const socket = await dial(to)
      socket.on('error', () => undefined)
      socket.resume()
      const closed = new Promise((resolve) => socket.once('close', resolve))
      server.cut()
      await closed
    })

    test('a tunnel carries HTTPS requests, and is reused by the next request', async () => {
      const { certificatePem: cert, keyPem: key } = createSelfSigned(
        'hook',
        ['hook.default.svc'],
        Date.now(),
      )
      const hook = createTlsServer({ cert, key }, (asked, response) => response.end(`${asked.url}`))
      hook.listen(0, '127.0.0.1')
      await once(hook, 'listening')
      const port = portOf(hook)
      const agent = new DialedTlsAgent(cluster, { keepAlive: true })
      const dialedBefore = server.dialed.length
      for (const path of ['/one', '/two']) {
        const sent = request({
          host: '127.0.0.1',
          port,
          path,
          agent,
          ca: cert,
          servername: 'hook.default.svc',
        }).end()
        const [response] = await once(sent, 'response')
        assert.equal((await buffer(response)).toString(), path)
      }
      assert.equal(server.dialed.length, dialedBefore + 1, 'one tunnel serves both requests')
      const wrong = request({
        host: '127.0.0.1',
        port,
        path: '/',
        agent,
        ca: cert,
        servername: 'other.svc',
      }).end()
      const [error] = await once(wrong, 'error')
      assert.match(String(error), /altnames/)
      agent.destroy()
      hook.closeAllConnections()
      hook.close()
    })

    test('a dial to an address without a listener fails, and counts as a failure of the proxy', async () => {
      const free = createServer().listen(0, '127.0.0.1')
      await once(free, 'listening')
      const port = portOf(free)
      free.close()
      await once(free, 'close')
      await assert.rejects(dial({ host: '127.0.0.1', port }))
      assert.match(
        metrics.print(),
        /dial_failure_count{protocol="\w+",stage="proxy",transport="\w+"} 1/,
      )
    })

    test('a dial fails immediately when its signal is aborted', async () => {
      const given = new AbortController()
      const opening = dial(to, given.signal)
      given.abort()
      await assert.rejects(opening)
    })

    test('the metrics contain the number and the durations of dials', async () => {
      const text = metrics.print()
      assert.match(
        text,
        /apiserver_egress_dialer_dial_start_total{protocol="(http_connect|grpc)",transport="(tcp|uds)"} \d+/,
      )
      assert.match(text, /apiserver_egress_dialer_dial_duration_seconds_bucket{.*le="12.5"} \d/)
    })
  })
}

const rejected = async (proxy: EgressProxy, signal?: AbortSignal): Promise<string> => {
  const { dial, metrics } = dialerOf(proxy)
  const error: unknown = await dial({ host: '192.0.2.1', port: 443 }, signal).catch(
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error)
  assert.match(
    metrics.print(),
    /dial_failure_count{protocol="\w+",stage="connect",transport="\w+"} 1/,
  )
  return error.message
}

describe('dialing through an unreachable proxy fails', () => {
  test("a dial fails if the proxy's Unix domain socket does not exist", async () => {
    const path = newPath()
    const error = await rejected({ protocol: 'http-connect', transport: 'uds', path })
    assert.equal(error, `dial unix ${path}: connect: no such file or directory`)
  })

  test('a dial fails if no proxy listens on the port', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const address = `127.0.0.1:${portOf(free)}`
    free.close()
    await once(free, 'close')
    const error = await rejected({ protocol: 'http-connect', transport: 'tcp', address, tls })
    assert.equal(error, `dial tcp ${address}: connect: connection refused`)
  })

  test('a dial fails if a different CA issued the certificate of the proxy', async () => {
    await using server = await (kinds['HTTP CONNECT over TLS'] ?? assert.fail())()
    const { proxy } = server
    assert.ok(proxy.transport === 'tcp')
    const error = await rejected({ ...proxy, tls: { ...tls, caPath: at('other-ca.pem') } })
    assert.match(error, /self-signed|unable to verify/)
    assert.deepEqual(server.dialed, [])
  })

  test('a dial over gRPC waits for the proxy, and succeeds once the proxy runs', async () => {
    const path = newPath()
    const proxy = { protocol: 'grpc', transport: 'uds', path } as const
    const expected =
      /^context deadline exceeded: connection error: desc = "transport: Error while dialing: dial unix .*: connect: no such file or directory"$/
    let reported = ''
    // The reported error contains the error of the first attempt to connect only if this attempt
    // fails before the signal is aborted. On a slow machine, it may fail too late, so try again
    // with more time.
    for (let ms = 50; !expected.test(reported) && ms < 30_000; ms *= 2) {
      const gone = new AbortController()
      setTimeout(() => gone.abort(), ms)
      reported = await rejected(proxy, gone.signal)
    }
    assert.match(reported, expected)
    const far = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
    await once(far, 'listening')
    const opening = dialerOf(proxy).dial({ host: '127.0.0.1', port: portOf(far) })
    await using server = await startGrpcProxy({ path })
    const socket: Duplex = await opening
    assert.equal((await buffer(socket)).toString(), 'here')
    assert.equal(server.dialed.length, 1)
    far.close()
  })
})

test("if the proxy refuses the tunnel, the dial fails with the proxy's status", async () => {
  const path = newPath()
  await using server = await startConnectProxy({ path, refusal: 503 })
  const { dial } = dialerOf({ protocol: 'http-connect', transport: 'uds', path })
  await assert.rejects(dial({ host: '::1', port: 443 }), {
    message: `proxy error from ${path} while dialing [::1]:443, code 503: 503 No Way`,
  })
  assert.deepEqual(server.dialed, ['[::1]:443'])
})

test('a dial fails if the proxy sends an error response after it opened the tunnel', async () => {
  const path = newPath()
  const proxy = createServer((socket) => {
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 Connection Established\r\n\r\nHTTP/1.1 500 No\r\n\r\n'),
    )
  }).listen(path)
  await once(proxy, 'listening')
  const { dial } = dialerOf({ protocol: 'http-connect', transport: 'uds', path })
  await assert.rejects(dial({ host: '127.0.0.1', port: 443 }), {
    message: `unexpected 19 bytes of buffered data from CONNECT proxy "${path}"`,
  })
  proxy.close()
})

test("bytes from the far end that arrive with the proxy's response are not lost", async () => {
  const path = newPath()
  const proxy = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 Connection Established\r\n\r\nhello'))
  }).listen(path)
  await once(proxy, 'listening')
  const { dial } = dialerOf({ protocol: 'http-connect', transport: 'uds', path })
  assert.equal((await buffer(await dial({ host: '127.0.0.1', port: 443 }))).toString(), 'hello')
  proxy.close()
})

test('if a konnectivity proxy reports an error, the dial fails with the same message', async () => {
  const path = newPath()
  await using server = await startGrpcProxy({ path, refusal: 'No agent available' })
  const { dial, metrics } = dialerOf({ protocol: 'grpc', transport: 'uds', path })
  await assert.rejects(dial({ host: '::1', port: 443 }), { message: 'No agent available' })
  assert.match(
    metrics.print(),
    /konnectivity_network_proxy_client_dial_failure_total{reason="endpoint"} 1/,
  )
  assert.deepEqual(server.dialed, ['[::1]:443'])
})

test('if konnectivity does not respond, the dial fails when its signal is aborted', async () => {
  const path = newPath()
  await using server = await startGrpcProxy({ path, refusal: 'silence' })
  const { dial, metrics } = dialerOf({ protocol: 'grpc', transport: 'uds', path })
  const given = new AbortController()
  const opening = dial({ host: '127.0.0.1', port: 443 }, given.signal)
  await until(() => server.dialed.length === 1, 'the proxy has the request')
  given.abort()
  await assert.rejects(opening, { name: 'AbortError' })
  await until(() => server.packets.includes(5), 'the proxy was notified that the dial is abandoned')
  assert.match(metrics.print(), /dial_failure_total{reason="context"} 1/)
})

test('all written data arrives even if the flow-control window has no room for the packet that closes the tunnel', async () => {
  const path = newPath()
  const sent = randomBytes(1_000)
  let held: ServerHttp2Stream | undefined
  await using server = await startGrpcProxy({
    path,
    onDialed: (stream, bytes) => {
      // Makes the flow control window just large enough for the data that the client writes
      // (`sent`).
      stream.session?.settings({ initialWindowSize: bytes + dataPacket(8n, sent).length })
      held = stream.pause()
    },
  })
  const got: Buffer[] = []
  const far = createServer((socket) => socket.on('data', (chunk) => got.push(chunk))).listen(
    0,
    '127.0.0.1',
  )
  await once(far, 'listening')
  const { dial } = dialerOf({ protocol: 'grpc', transport: 'uds', path })
  const socket = await dial({ host: '127.0.0.1', port: portOf(far) })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume().end(sent)
  await new Promise((resolve) => setTimeout(resolve, 100))
  held?.resume()
  await closed
  assert.deepEqual(Buffer.concat(got), sent)
  assert.ok(server.packets.includes(2), 'the proxy was notified of the end')
  far.close()
})

test('if the proxy sends GOAWAY on a new connection, the dial opens another connection', async () => {
  const [path, real] = [newPath(), newPath()]
  await using server = await startGrpcProxy({ path: real })
  let connected = 0
  const opened: Socket[] = []
  const between = createServer((socket) => {
    opened.push(socket.on('error', () => socket.destroy()))
    // The first connection gets SETTINGS and GOAWAY, and stays open.
    if (++connected === 1)
      socket
        .resume()
        .write(Buffer.from(`000000040000000000000008070000000000${'00'.repeat(8)}`, 'hex'))
    else socket.pipe(opened[opened.push(connect(real)) - 1] ?? socket).pipe(socket)
  }).listen(path)
  const far = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
  await Promise.all([once(between, 'listening'), once(far, 'listening')])
  const { dial } = dialerOf({ protocol: 'grpc', transport: 'uds', path })
  const to = { host: '127.0.0.1', port: portOf(far) }
  try {
    assert.equal((await buffer(await dial(to, AbortSignal.timeout(15_000)))).toString(), 'here')
    assert.equal(server.dialed.length, 1)
  } finally {
    for (const socket of opened) socket.destroy()
    between.close()
    far.close()
  }
})

test('an address that contains a line break is rejected and never sent', async () => {
  const path = newPath()
  await using server = await startConnectProxy({ path })
  const { dial } = dialerOf({ protocol: 'http-connect', transport: 'uds', path })
  await assert.rejects(dial({ host: 'a\r\nHost: b', port: 443 }), /invalid host/)
  assert.equal(server.connections(), 0, 'there is no connection to the proxy')
  assert.deepEqual(server.dialed, [])
})
