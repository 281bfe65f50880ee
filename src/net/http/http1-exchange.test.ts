import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { ByteBudget } from '../../lib/bytes/byte-budget.ts'
import { Turn } from '../http2/turn.ts'
import { Connection } from './connection.ts'
import { headersOf, Http1Exchange } from './http1-exchange.ts'
import { defaultLimits } from './limits.ts'

/** A socket that completes a write only when `goOn` is called. */
class SlowSocket extends Socket {
  handed = 0
  #done: (() => void) | undefined

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.handed += chunk.length
    this.#done = done
  }

  override _writev(chunks: { readonly chunk: Buffer | string }[], done: () => void): void {
    for (const { chunk } of chunks) this.handed += chunk.length
    this.#done = done
  }

  goOn(): boolean {
    const done = this.#done
    this.#done = undefined
    done?.()
    return done !== undefined
  }
}

function begin(length = 256 * 1024): {
  readonly socket: SlowSocket
  readonly exchange: Http1Exchange
} {
  const socket = new SlowSocket()
  const request = new IncomingMessage(socket)
  request.method = 'GET'
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  const connection = new Connection(new TLSSocket(new Socket()), defaultLimits)
  const head = {
    method: 'GET',
    target: { path: '/', query: '' },
    headers: {},
    connection,
    limits: defaultLimits,
  }
  const exchange = new Http1Exchange(head, {
    request,
    response,
    isClosing: () => false,
    turn: new Turn(),
  })
  exchange.writeHead(200, {}, { length })
  return { socket, exchange }
}

const parts = Array.from({ length: 256 }, () => Buffer.alloc(1024))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('data that a slow client has not received is not copied', async () => {
  const { socket, exchange } = begin()
  let isTaken = false
  assert.equal(
    exchange.write(parts, () => (isTaken = true)),
    false,
  )
  await turn()
  for (let rounds = 0; !isTaken; rounds++) {
    assert.ok(rounds < 20)
    assert.ok(socket.writableLength < 68 * 1024, `${socket.writableLength} bytes wait to be sent`)
    const before = exchange.progress
    assert.ok(exchange.isWriting && socket.goOn())
    await turn()
    assert.ok(exchange.progress >= before)
  }
  assert.ok(socket.handed >= 256 * 1024 && !exchange.isWriting)
})

test('an empty write completes immediately', () => {
  const { exchange } = begin()
  assert.ok(exchange.write([], assert.fail) && exchange.write([Buffer.alloc(0)], assert.fail))
  assert.ok(!exchange.isWriting)
})

test('when a client disconnects during a write, the callback of the write is called once', async () => {
  const { socket, exchange } = begin()
  let reported = 0
  exchange.write(parts, () => reported++)
  await turn()
  socket.destroy()
  for (let turns = 0; turns < 5; turns++) await turn()
  assert.deepEqual([reported, exchange.isWriting], [1, false])
})

test('the reported progress of a long response grows while a slow client reads the response', async () => {
  const { socket, exchange } = begin(1024 * 1024)
  exchange.end([Buffer.alloc(1024 * 1024)])
  assert.ok(exchange.isAnswered)
  await turn()
  let steps = 0
  for (let before = -1; exchange.isWriting; steps++) {
    assert.ok(exchange.progress > before, 'it makes progress')
    before = exchange.progress
    assert.ok(socket.writableLength < 68 * 1024 && socket.goOn())
    await turn()
  }
  assert.ok(steps >= 16 && socket.handed >= 1024 * 1024, `${steps} steps`)
})

test('the values of a header that must not be joined are read from the raw headers', () => {
  const request = {
    headers: { origin: 'https://a, https://b', accept: 'x, y' },
    rawHeaders: [
      'Origin',
      'https://a',
      'Accept',
      'x',
      '__proto__',
      'b',
      'accept',
      'y',
      'ORIGIN',
      'https://b',
    ],
    // Node.js before 24.14.1 throws this error for a request with a `__proto__` header.
    get headersDistinct(): never {
      throw new TypeError('dest[field].push is not a function')
    },
  }
  assert.deepEqual(
    headersOf(request, (name) => name === 'origin'),
    { origin: ['https://a', 'https://b'], accept: 'x, y' },
  )
  assert.equal(
    headersOf(request, () => false),
    request.headers,
  )
})

test('a request is rejected as too large if its objects together exceed the memory limit of one request', () => {
  const budget = new ByteBudget(80, 100)
  const { exchange } = begin()
  exchange.holdWithin(budget)
  assert.equal(exchange.holdObject(60), 'held')
  assert.equal(budget.used, budget.requestMax)
  assert.equal(exchange.holdObject(45), 'too-large')
  assert.equal(exchange.holdObject(40), 'held')
  const other = begin().exchange
  other.holdWithin(budget)
  assert.equal(other.holdObject(60), 'busy')
  exchange.release()
  assert.equal(other.holdObject(60), 'held')
  assert.equal(exchange.holdObject(101), 'too-large')
})
