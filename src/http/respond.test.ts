import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import type { ApiResponse, Headers } from '../api/request.ts'
import type { Outgoing } from './exchange.ts'
import { respond } from './respond.ts'

/** A client that takes each write a little later, and notes how much was waiting for it. */
class SlowClient implements Outgoing {
  readonly received: Buffer[] = []
  readonly takesBody = true
  head: { status: number; headers: Headers } | undefined
  waitingMax = 0
  readonly writable = new Writable({
    highWaterMark: 16 * 1024,
    writev: (chunks, done) => {
      for (const { chunk } of chunks) this.received.push(chunk)
      setImmediate(done)
    },
    write: (chunk: Buffer, _, done) => {
      this.received.push(chunk)
      setImmediate(done)
    },
  })

  writeHead = (status: number, headers: Headers): void => {
    this.head = { status, headers }
  }

  flushHead = (): void => undefined

  measure(): void {
    this.waitingMax = Math.max(this.waitingMax, this.writable.writableLength)
  }

  get text(): string {
    return Buffer.concat(this.received).toString()
  }
}

const parts = Array.from({ length: 2000 }, (_, at) => Buffer.from(`${at}:${'x'.repeat(2000)}`))

test('a long list is sent whole, with its length, and never much of it at once', async () => {
  const client = new SlowClient()
  const measuring = setInterval(() => client.measure(), 0)
  await respond(client, { status: 200, headers: { a: 'b' }, body: parts })
  clearInterval(measuring)
  await new Promise((resolve) => client.writable.on('finish', resolve))
  const text = Buffer.concat(parts).toString()
  assert.equal(client.text, text)
  assert.deepEqual(client.head, { status: 200, headers: { a: 'b', 'content-length': `${text.length}` } })
  assert.ok(client.waitingMax < 300 * 1024, `${client.waitingMax} bytes were waiting`)
})

test('a stream is asked for more only when the client has taken what there was', async () => {
  const client = new SlowClient()
  let asked = 0
  const response: ApiResponse = {
    status: 200,
    headers: {},
    stream: (async function* () {
      for (const part of parts.slice(0, 100)) {
        asked++
        client.measure()
        yield [part, part]
      }
    })(),
  }
  await respond(client, response)
  assert.equal(asked, 100)
  assert.ok(client.waitingMax <= 16 * 1024 + 5000)
})

test('an answer to a client that has gone away ends', async () => {
  const client = new SlowClient()
  let isReturned = false
  const stream = (async function* () {
    try {
      for (;;) yield parts.slice(0, 10)
    } finally {
      isReturned = true
    }
  })()
  setTimeout(() => client.writable.destroy(), 20)
  await respond(client, { status: 200, headers: {}, stream })
  assert.ok(isReturned)
})
