import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { mock, test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { overWebSocket } from './websocket-watch.ts'

const http: ApiRequest = {
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
  headers: { 'sec-websocket-key': 'k' },
  body: () => Promise.resolve(Buffer.alloc(0)),
  hasBody: false,
  pipeBody: () => Promise.resolve(),
  signal: new AbortController().signal,
  remoteAddress: '',
  peerCertificate: () => undefined,
}

/**
 * Opens a watch and a socket for its client. The client reads the sent data only if `reads` is set.
 */
function watch({
  reads,
  hold,
}: {
  readonly reads: boolean
  readonly hold?: (bytes: number) => boolean
}) {
  const sent: Buffer[] = []
  let ready: (() => void) | undefined
  let next: Buffer[] | undefined = []
  const state = { isClosed: false }
  /** Calls the callback that was passed to `onReady`, and removes it. */
  const wake = (): void => {
    const call = ready
    ready = undefined
    call?.()
  }
  const frames = {
    take: () => {
      const taken = next
      if (taken !== undefined) next = []
      return taken
    },
    onReady: (call: () => void) => void (ready = call),
    close: () => {
      state.isClosed = true
      next = undefined
      wake()
    },
  }
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk)
      if (reads) done()
    },
  })
  const answer = overWebSocket(hold === undefined ? http : { ...http, hold }, frames, 'json')
  assert.ok('tunnel' in answer)
  answer.tunnel(socket)
  return {
    socket,
    state,
    sent: () => Buffer.concat(sent),
    hear: async (...bytes: Buffer[]) => {
      for (const chunk of bytes) socket.push(chunk)
      await turn()
    },
    emit: (...texts: string[]) => {
      next = texts.map((text) => Buffer.from(text))
      wake()
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Encodes a masked frame. The mask is all zeros. */
const said = (first: number, payload = ''): Buffer =>
  Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)])

test('pongs do not accumulate if a WebSocket client sends pings but does not read', async () => {
  const { socket, hear } = watch({ reads: false })
  const flood = Buffer.concat(Array.from({ length: 1_000 }, () => said(0x89, 'x'.repeat(100))))
  for (let round = 0; round < 50; round++) await hear(flood)
  assert.ok(socket.writableLength < 64 * 1024, `${socket.writableLength} bytes wait to be sent`)
})

test('after several pings of a WebSocket client, the latest ping is answered, even if it arrives in pieces', async () => {
  const { sent, hear } = watch({ reads: true })
  const ping = said(0x89, 'second')
  await hear(Buffer.concat([said(0x89, 'first'), ping.subarray(0, 3)]))
  await hear(ping.subarray(3))
  assert.equal(sent().toString('latin1'), '\x8a\x05first\x8a\x06second')
})

const faults: readonly (readonly [string, Buffer])[] = [
  ['an unmasked frame', Buffer.from([0x81, 1, 0x78])],
  ['a fragmented ping', said(0x09, 'x')],
  ['a ping that is too long', Buffer.from([0x89, 0xfe, 0, 200, 0, 0, 0, 0])],
  ['a reserved bit', said(0xc1, 'x')],
  ['an unknown opcode', said(0x83, 'x')],
]
for (const [what, bytes] of faults) {
  test(`a WebSocket watch ends with status code 1002 after ${what}`, async () => {
    const { sent, hear, state } = watch({ reads: true })
    await hear(bytes, said(0x89, 'more'))
    assert.deepEqual([...sent()], [0x88, 2, 3, 0xea])
    assert.ok(state.isClosed)
  })
}

test('nothing is sent after the close frame of a WebSocket client, and a client that does not close the connection is disconnected', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { sent, hear, state, socket } = watch({ reads: true })
    await hear(said(0x88), said(0x88), said(0x89))
    assert.ok(state.isClosed)
    assert.deepEqual([...sent()], [0x88, 0])
    mock.timers.tick(5_000)
    assert.ok(socket.destroyed)
  } finally {
    mock.timers.reset()
  }
})

test('pending events are not copied for a WebSocket client that reads slowly', async () => {
  const { emit, socket, sent } = watch({ reads: false })
  emit(...Array.from({ length: 256 }, (_, n) => `${String(n).padEnd(1023)}\n`))
  await turn()
  assert.ok(socket.writableLength < 68 * 1024, `${socket.writableLength} bytes wait to be sent`)
  assert.ok(sent().length < 68 * 1024)
})

test('over a WebSocket, every event is sent as one message, regardless of how many events are ready at once', async () => {
  const { emit, sent } = watch({ reads: true })
  const lengths = Array.from({ length: 300 }, (_, n) => (n * 37) % 1_000)
  emit(...lengths.map((length) => `${'x'.repeat(length)}\n`), `${'y'.repeat(100_000)}\n`)
  for (let turns = 0; turns < 20; turns++) await turn()
  const bytes = sent()
  const found: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const short = bytes.readUInt8(at + 1)
    const [head, length] =
      short === 127
        ? [10, Number(bytes.readBigUInt64BE(at + 2))]
        : short === 126
          ? [4, bytes.readUInt16BE(at + 2)]
          : [2, short]
    assert.equal(bytes.readUInt8(at), 0x81)
    found.push(length - 1)
    at += head + length
  }
  assert.deepEqual(found, [...lengths, 100_000])
})

test('the watch of a WebSocket client that stops reading is closed', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { emit, state, socket } = watch({ reads: false })
    emit(`${'x'.repeat(100_000)}\n`)
    mock.timers.tick(60_000)
    await turn()
    assert.ok(socket.destroyed && state.isClosed)
  } finally {
    mock.timers.reset()
  }
})

test('no events are read for a WebSocket client that has disconnected', () => {
  let taken = 0
  let isClosed = false
  const frames = {
    take: () => (isClosed || ++taken > 1_000 ? undefined : [Buffer.from('{}\n')]),
    onReady: () => undefined,
    close: () => void (isClosed = true),
  }
  const answer = overWebSocket(http, frames, 'json')
  assert.ok('tunnel' in answer)
  answer.tunnel(new Duplex().destroy())
  assert.deepEqual([taken, isClosed], [0, true])
})

test('unread events of a WebSocket client reserve memory, and the watch is closed if no memory is available', async () => {
  let heldBytes = 0
  let max = 1_000_000
  const hold = (bytes: number): boolean => {
    if (heldBytes + bytes > max) return false
    heldBytes += bytes
    return true
  }
  const slow = watch({ reads: false, hold })
  slow.emit(`${'x'.repeat(200_000)}\n`)
  await turn()
  assert.ok(heldBytes >= 200_000 && heldBytes <= max, `${heldBytes}`)
  assert.equal(slow.state.isClosed, false)
  max = heldBytes
  const other = watch({ reads: false, hold })
  other.emit(`${'x'.repeat(200_000)}\n`)
  await turn()
  assert.ok(other.state.isClosed && other.socket.destroyed)
  slow.socket.destroy()
})
