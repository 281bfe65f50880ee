/** Tests watches over a WebSocket, with Node's HTTP client. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import {
  adminToken,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer()
  client = clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client')
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const folder = '/api/v1/namespaces/default/configmaps'
const make = (name: string, text = '') =>
  client.call({ method: 'POST', path: folder, body: { metadata: { name }, data: { text } } })

async function open(
  query: string,
  accept = 'application/json',
  url = server.url,
): Promise<Messages> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-version': '13',
    authorization: `Bearer ${adminToken}`,
    accept,
  }
  const asked = httpsRequest(`${url}${folder}?watch=true&${query}`, {
    headers,
    rejectUnauthorized: false,
    agent: false,
  })
  const upgraded = once(asked.end(), 'upgrade')
  const [message, socket] = await upgraded
  assert.equal(message.statusCode, 101)
  return new Messages(socket)
}

/** Parses the messages of a server, which may arrive in chunks. */
class Messages implements Disposable {
  readonly socket: Duplex
  readonly #all: { readonly opcode: number; readonly payload: Buffer }[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #onMessage: (() => void) | undefined

  constructor(socket: Duplex) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      while (this.#read());
      this.#onMessage?.()
    })
  }

  #read(): boolean {
    const bytes = this.#bytes
    if (bytes.length < 2) return false
    const short = bytes.readUInt8(1)
    const from = short === 127 ? 10 : short === 126 ? 4 : 2
    if (bytes.length < from) return false
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short === 126
          ? bytes.readUInt16BE(2)
          : short
    if (bytes.length < from + length) return false
    this.#all.push({
      opcode: bytes.readUInt8(0) & 0x0f,
      payload: bytes.subarray(from, from + length),
    })
    this.#bytes = bytes.subarray(from + length)
    return true
  }

  async next(): Promise<{ readonly opcode: number; readonly payload: Buffer }> {
    for (;;) {
      const first = this.#all.shift()
      if (first !== undefined) return first
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve
      })
    }
  }

  async event(): Promise<{
    type: string
    object: { metadata: { name: string }; data?: { text: string } }
  }> {
    const { opcode, payload } = await this.next()
    assert.equal(opcode, 1, 'text')
    return JSON.parse(payload.toString('utf8'))
  }

  send(opcode: number, text: string): void {
    const mask = randomBytes(4)
    const payload = Buffer.from(text).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
    const size =
      payload.length < 126
        ? [0x80 | payload.length]
        : [0x80 | 126, payload.length >> 8, payload.length & 255]
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...size]), mask, payload]))
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

test('in a WebSocket watch, each event is one message, a ping is answered with a pong, and other messages are ignored', async () => {
  await make('a')
  using watching = await open('')
  const names: string[] = []
  while (names.at(-1) !== 'a') names.push((await watching.event()).object.metadata.name)
  await make('b', 'x'.repeat(100))
  await make('c', 'y'.repeat(200_000))
  const [b, c] = [await watching.event(), await watching.event()]
  assert.deepEqual(
    [b.type, b.object.metadata.name, c.object.data?.text.length],
    ['ADDED', 'b', 200_000],
  )
  watching.send(1, 'z'.repeat(5_000))
  watching.send(9, 'there?')
  const pong = await watching.next()
  assert.deepEqual([pong.opcode, pong.payload.toString()], [10, 'there?'])
  watching.send(8, '')
  assert.equal((await watching.next()).opcode, 8)
  await once(watching.socket, 'close')
})

test('a watch that ends closes its WebSocket', async () => {
  using watching = await open('timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name=none')
  assert.equal((await watching.next()).opcode, 8)
})

test('protobuf events are binary messages without a length prefix', async () => {
  await make('d')
  using watching = await open(
    'fieldSelector=metadata.name=d',
    'application/vnd.kubernetes.protobuf;stream=watch',
  )
  const { opcode, payload } = await watching.next()
  assert.equal(opcode, 2)
  assert.ok(payload.includes('ADDED') && payload.includes('k8s\0') && payload.readUInt8(0) !== 0)
})

test('a server that stops sends a close frame to WebSocket clients', async () => {
  const replica = await startReplica(server)
  using watching = await open(
    'resourceVersion=0&fieldSelector=metadata.name=none',
    'application/json',
    replica.url,
  )
  const cut = once(watching.socket, 'close').then(() => undefined)
  const stopped = replica[Symbol.asyncDispose]()
  assert.equal((await Promise.race([watching.next(), cut]))?.opcode, 8)
  await stopped
})
