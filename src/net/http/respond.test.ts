import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ApiResponse, FrameSource, Headers } from '../../api/request.ts'
import { until } from '../../../test/support/harness/until.ts'
import type { BodyForm, Outgoing } from './outgoing.ts'
import { Responder } from './respond.ts'

/**
 * A client that needs one turn of the event loop for each write. Records the size of the largest
 * write.
 */
class SlowClient implements Outgoing {
  readonly received: Buffer[] = []
  /** The buffers that were passed to `write`. They are not copies. */
  readonly given: Buffer[] = []
  readonly takesBody = true
  readonly takesGzip: () => boolean
  isGone = false
  isEnded = false
  head: { status: number; headers: Headers; length: number | undefined } | undefined
  waitingMax = 0
  #onClose: (() => void) | undefined

  constructor({ takesGzip = false } = {}) {
    this.takesGzip = () => takesGzip
  }

  writeHead = (status: number, headers: Headers, { length }: BodyForm): void => {
    this.head = { status, headers, length }
  }

  flushHead = (): void => undefined

  write = (parts: readonly Buffer[], onTaken: () => void): boolean => {
    // Copies the parts, because their memory is reused after `onTaken`.
    const bytes = Buffer.concat(parts)
    this.given.push(...parts)
    this.waitingMax = Math.max(this.waitingMax, bytes.length)
    setImmediate(() => {
      if (!this.isGone) this.received.push(bytes)
      onTaken()
    })
    return false
  }

  end = (parts: readonly Buffer[] = []): void => {
    this.isEnded = true
    this.received.push(...parts)
  }

  endWith = (): void => this.end()

  onClose = (close: () => void): void => {
    this.#onClose = close
  }

  goAway(): void {
    this.isGone = true
    this.#onClose?.()
  }

  get text(): string {
    return Buffer.concat(this.received).toString()
  }
}

const parts: readonly Buffer[] = Array.from({ length: 2000 }, (_, at) =>
  Buffer.from(`${at}:${'x'.repeat(2000)}`),
)

/** A client that does not complete any write before `goOn` is called. */
class StillClient extends SlowClient {
  waiting: readonly Buffer[] = []
  #isStill = true
  #next: (() => void) | undefined

  override write = (some: readonly Buffer[], onTaken: () => void): boolean => {
    this.waiting = some
    const take = (): void => {
      this.received.push(Buffer.concat(some))
      onTaken()
    }
    if (this.#isStill) this.#next = take
    else setImmediate(take)
    return false
  }

  override end = (some: readonly Buffer[] = []): void => {
    this.isEnded = true
    this.waiting = some
    this.received.push(...some)
  }

  goOn(): void {
    this.#isStill = false
    this.#next?.()
  }
}

test('a long list is sent completely, and with a Content-Length', async () => {
  const client = new SlowClient()
  await new Responder().respond(client, { status: 200, headers: { a: 'b' }, body: parts })
  const text = Buffer.concat(parts).toString()
  assert.ok(client.text === text)
  assert.deepEqual(client.head, { status: 200, headers: { a: 'b' }, length: text.length })
})

test('the next chunk of a stream is read only when the client has accepted the previous chunk', async () => {
  const client = new SlowClient()
  let asked = 0
  const response: ApiResponse = {
    status: 200,
    headers: {},
    stream: (async function* () {
      for (const part of parts.slice(0, 100)) {
        asked++
        yield [part, part]
      }
    })(),
  }
  await new Responder().respond(client, response)
  assert.equal(asked, 100)
  assert.ok(client.waitingMax <= 5000)
})

test('a stream response ends when its client disconnects', async () => {
  const client = new SlowClient()
  let isReturned = false
  const stream = (async function* () {
    try {
      for (;;) yield parts.slice(0, 10)
    } finally {
      isReturned = true
    }
  })()
  setTimeout(() => client.goAway(), 20)
  await new Responder().respond(client, { status: 200, headers: {}, stream })
  assert.ok(isReturned)
})

test('a list that is generated while the client reads it is generated only slightly ahead of the client', async () => {
  const client = new SlowClient()
  let asked = 0
  const chunks = (function* () {
    for (let at = 0; at < parts.length; at += 10) {
      asked++
      yield parts.slice(at, at + 10)
      assert.ok(asked * 20_000 - Buffer.concat(client.received).length < 64 * 1024)
    }
  })()
  const length = parts.reduce((bytes, part) => bytes + part.length, 0)
  await new Responder().respond(client, { status: 200, headers: {}, body: { length, chunks } })
  assert.equal(asked, 200)
  assert.ok(client.text === Buffer.concat(parts).toString())
})

test('a large body is compressed on request, and only once for all responses with the same tag', async () => {
  const responder = new Responder()
  const text = Buffer.concat(parts).toString()
  let made = 0
  const body = (tag: string) => ({
    tag: () => tag,
    length: text.length,
    chunks: (function* () {
      made++
      yield parts
    })(),
  })
  const ask = async (tag: string): Promise<SlowClient> => {
    const client = new SlowClient({ takesGzip: true })
    await responder.respond(client, { status: 200, headers: { a: 'b' }, body: body(tag) })
    return client
  }
  const clients = await Promise.all([ask('one'), ask('one'), ask('other')])
  clients.push(await ask('one'))
  assert.equal(made, 2)
  for (const client of clients) {
    assert.ok(gunzipSync(Buffer.concat(client.received)).toString() === text)
    assert.deepEqual(client.head?.headers, {
      a: 'b',
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    })
    assert.equal(client.head?.length, Buffer.concat(client.received).length)
  }
  const untagged = new SlowClient({ takesGzip: true })
  await responder.respond(untagged, { status: 200, headers: {}, body: parts })
  assert.ok(gunzipSync(Buffer.concat(untagged.received)).toString() === text)
  const small = new SlowClient({ takesGzip: true })
  await responder.respond(small, { status: 200, headers: {}, body: Buffer.alloc(128 * 1024) })
  assert.equal(small.head?.length, 128 * 1024)
})

test('a cached compressed list retains only its own bytes, and a list with a long tag is not cached', async () => {
  const responder = new Responder()
  let made = 0
  const ask = async (tag: string): Promise<SlowClient> => {
    made++
    const client = new SlowClient({ takesGzip: true })
    const body = {
      tag: () => tag,
      length: 200_000,
      chunks: [[Buffer.alloc(200_000, String(made))]],
    }
    await responder.respond(client, { status: 200, headers: {}, body })
    return client
  }
  const { received, given } = await ask('short')
  assert.deepEqual(
    given.map(({ buffer }) => buffer.byteLength),
    given.map(({ length }) => length),
  )
  assert.deepEqual((await ask('short')).received, received)
  const long = 'x'.repeat(5_000)
  const [first, second] = [await ask(long), await ask(long)].map((client) =>
    gunzipSync(Buffer.concat(client.received)),
  )
  assert.deepEqual([first?.toString('utf8', 0, 1), second?.toString('utf8', 0, 1)], ['3', '4'])
})

test('the memory for compressed lists that clients do not read is limited', async () => {
  const responder = new Responder()
  // Random bytes cannot be compressed.
  const block = randomBytes(1 << 20)
  let made = 0
  const body = (tag: string) => ({
    length: 8 << 20,
    tag: () => tag,
    chunks: (async function* () {
      for (let at = 0; at < 8; at++) {
        made++
        yield [block]
      }
    })(),
  })
  const clients = Array.from({ length: 12 }, () => new StillClient({ takesGzip: true }))
  const answers = clients.map(async (client, at) =>
    responder.respond(client, { status: 200, headers: {}, body: body(`${at >> 1}`) }),
  )
  await until(() => clients.every(({ head }) => head !== undefined), 'all responses begin')
  const held = new Set(clients.flatMap(({ waiting }) => waiting))
  const heldBytes = [...held].reduce((sum, { length }) => sum + length, 0)
  assert.ok(heldBytes < 40 << 20, `${heldBytes}`)
  for (const client of clients) client.goOn()
  await Promise.all(answers)
  const whole = Buffer.concat(new Array<Buffer>(8).fill(block))
  for (const { received } of clients) assert.ok(gunzipSync(Buffer.concat(received)).equals(whole))
  // The responses above no longer use memory, so these bodies can be compressed as a whole.
  made = 0
  for (let at = 0; at < 2; at++) {
    const again = new SlowClient({ takesGzip: true })
    await responder.respond(again, { status: 200, headers: {}, body: body('again') })
    assert.equal(again.head?.length, Buffer.concat(again.received).length)
  }
  assert.equal(made, 8)
})

test('respond rejects if the source of a list fails, with and without compression', async () => {
  for (const takesGzip of [false, true]) {
    const client = new SlowClient({ takesGzip })
    const chunks = (function* () {
      yield parts.slice(0, 200)
      throw new Error('broken')
    })()
    const body = { length: 10_000_000, chunks, ...(takesGzip ? { tag: () => 'broken' } : {}) }
    await assert.rejects(
      async () => new Responder().respond(client, { status: 200, headers: {}, body }),
      /broken/,
    )
  }
})

/** A FrameSource that returns the frames passed to `put`, and ends when it is closed. */
class Frames implements FrameSource {
  readonly waiting: Buffer[] = []
  isClosed = false
  #ready: (() => void) | undefined

  put(...frames: Buffer[]): void {
    this.waiting.push(...frames)
    this.#wake()
  }

  take = (): readonly Buffer[] | undefined =>
    this.isClosed && this.waiting.length === 0 ? undefined : this.waiting.splice(0)

  onReady = (ready: () => void): void => {
    this.#ready = ready
    if (this.isClosed || this.waiting.length > 0) setImmediate(() => this.#wake())
  }

  close = (): void => {
    this.isClosed = true
    this.#wake()
  }

  #wake(): void {
    const ready = this.#ready
    this.#ready = undefined
    ready?.()
  }
}

test('frames that become available during a write are sent together in the next write', async () => {
  const client = new SlowClient()
  const frames = new Frames()
  const answered = new Responder().respond(client, { status: 200, headers: {}, frames })
  frames.put(Buffer.from('1'))
  frames.put(Buffer.from('2'))
  frames.put(Buffer.from('3'), Buffer.from('4'))
  await until(() => client.received.length === 2, 'they are sent')
  frames.put(Buffer.from('5'))
  frames.close()
  await answered
  assert.deepEqual(client.received.map(String), ['1', '234', '5'])
  assert.ok(client.isEnded)
})

test('the source of frames is closed when the client disconnects', async () => {
  const client = new SlowClient()
  const frames = new Frames()
  const answered = new Responder().respond(client, { status: 200, headers: {}, frames })
  frames.put(Buffer.from('1'))
  client.goAway()
  await answered
  assert.ok(frames.isClosed)
})

test('a stream runs its cleanup even if its client disconnected before the response began', async () => {
  const client = new SlowClient()
  client.isGone = true
  let isEnded = false
  async function* lines(): AsyncGenerator<readonly Buffer[]> {
    try {
      yield [Buffer.from('a')]
      yield [Buffer.from('b')]
    } finally {
      isEnded = true
    }
  }
  await new Responder().respond(client, { status: 200, headers: {}, stream: lines() })
  await until(() => isEnded, 'the stream is ended')
  assert.deepEqual(client.received, [])
})

test('the source of frames is closed if the headers cannot be written', async () => {
  const client = new SlowClient()
  client.writeHead = () => {
    throw new TypeError('a header cannot be written')
  }
  let isClosed = false
  const frames = {
    take: () => undefined,
    onReady: () => undefined,
    close: () => void (isClosed = true),
  }
  await assert.rejects(
    async () => new Responder().respond(client, { status: 200, headers: {}, frames }),
    /header/,
  )
  assert.equal(isClosed, true)
})
