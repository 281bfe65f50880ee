import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { builtIn } from '../../../test/support/harness/memory-control-plane.ts'
import { longestTurnMs } from '../../../test/support/harness/turns.ts'
import { InitialEvent } from '../../storage/cache/event.ts'
import { Item, type ItemHome } from '../../storage/cache/item.ts'
import type { EventSource } from '../../storage/cache/watch.ts'
import { decodeStored, encodeStored, printWire } from '../../objects/codec/object.ts'
import { FrameMemory } from './represent/frame-memory.ts'
import type { Framing } from './represent/framing.ts'
import { WatchFrames } from './watch-frames.ts'

const LARGE = 100 << 10

/** Frame memory that counts how often it is released. */
class CountedMemory extends FrameMemory {
  releases = 0

  override release(): void {
    this.releases++
    super.release()
  }
}

test('a watch releases the memory for the frames of its initial objects after sending them', () => {
  const memory = new CountedMemory()
  const bookmark = { type: 'BOOKMARK', revision: 1, initialEventsEnd: false } as const
  const batches = [[bookmark], [bookmark], []]
  const watcher: EventSource = {
    get state() {
      return batches.length > 0 ? ('replaying' as const) : ('live' as const)
    },
    hasNews: false,
    take: () => batches.shift() ?? [],
    onReady: () => undefined,
    requestBookmark: () => undefined,
    close: () => undefined,
  }
  const framing: Framing = {
    headers: {},
    error: () => Buffer.alloc(0),
    event: () => memory.take(LARGE),
    isUnshared: false,
    memory,
  }
  const options = {
    framing,
    timeoutMs: 60_000,
    sendsBookmarks: false,
    onFrames: () => undefined,
    holdUnsent: () => true,
    onEnd: () => undefined,
  }
  const frames = new WatchFrames(watcher, options)
  try {
    for (let batch = 0; batch < 2; batch++) assert.equal(frames.take()?.length, 1)
    assert.equal(memory.releases, 0)
    assert.deepEqual(frames.take(), [])
    assert.equal(memory.releases, 1)
  } finally {
    frames.close()
  }
})

test('a long event is sent as several buffers, in the order of the events, and counts as one frame', () => {
  const batches = [
    [1, 2, 3].map((revision) => ({ type: 'BOOKMARK', revision, initialEventsEnd: false }) as const),
  ]
  const watcher: EventSource = {
    state: 'live',
    hasNews: false,
    take: () => batches.shift() ?? [],
    onReady: () => undefined,
    requestBookmark: () => undefined,
    close: () => undefined,
  }
  const framing: Framing = {
    headers: {},
    error: () => Buffer.alloc(0),
    event: ({ revision }) => Buffer.from(`frame ${revision}\n`),
    parts: ({ revision }) =>
      revision === 2 ? [Buffer.from('be'), Buffer.from('gin '), Buffer.from('2\n')] : undefined,
    isUnshared: false,
    memory: undefined,
  }
  const lengths: number[] = []
  const frames = new WatchFrames(watcher, {
    framing,
    timeoutMs: 60_000,
    sendsBookmarks: false,
    onFrames: (sent) => lengths.push(...sent.map(({ length }) => length)),
    holdUnsent: () => true,
    onEnd: () => undefined,
  })
  try {
    assert.equal(Buffer.concat(frames.take() ?? []).toString(), 'frame 1\nbegin 2\nframe 3\n')
    assert.deepEqual(lengths, [8, 8, 8])
  } finally {
    frames.close()
  }
})

const { shape } = builtIn('services')

/** Creates an item whose JSON for clients has not been generated yet. */
function storedItem(stored: Buffer): Item {
  const bytes = new Map<Item, Buffer>()
  const home: ItemHome = {
    codec: {
      decode: (value, _key, revision) => decodeStored(value, shape, revision),
      print: (object) => printWire(object, shape),
    },
    put: (item, made) => {
      bytes.set(item, made)
      item.length = made.length
    },
    view: (item, start, end) => (bytes.get(item) ?? stored).subarray(start, end),
    keep: () => undefined,
  }
  const item = new Item(home, { key: '/r/a', revision: 7, createRevision: 1 })
  item.length = stored.length
  return item
}

const service = (ports: number): Buffer =>
  encodeStored(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace: 'n', uid: 'u' },
      spec: { ports: Array.from({ length: ports }, (_, at) => ({ name: `p${at}`, port: at + 1 })) },
    },
    shape,
  )

const nothing = (): undefined => undefined

function framesOf(
  batches: Item[][],
  holdUnsent: (bytes: number) => boolean = () => true,
): WatchFrames {
  const watcher: EventSource = {
    state: 'live',
    hasNews: false,
    take: () => (batches.shift() ?? []).map((item) => new InitialEvent(item)),
    onReady: () => undefined,
    requestBookmark: () => undefined,
    close: () => undefined,
  }
  const framing: Framing = {
    headers: {},
    error: ({ code }) => Buffer.from(`error ${code}`),
    event: (event) => (event.type === 'BOOKMARK' ? Buffer.alloc(0) : event.frame()),
    isUnshared: false,
    memory: undefined,
  }
  return new WatchFrames(watcher, {
    framing,
    timeoutMs: 60_000,
    sendsBookmarks: false,
    onFrames: nothing,
    holdUnsent,
    onEnd: nothing,
  })
}

test('the JSON of a large object is generated in slices before its event is sent', async () => {
  const [large, small] = [service(30_000), service(1)]
  const texts: string[] = []
  const ms = await longestTurnMs(async () => {
    const frames = framesOf([
      [storedItem(small)],
      [storedItem(large), storedItem(small)],
      [storedItem(small)],
    ])
    texts.push(...(frames.take() ?? []).map(String))
    assert.deepEqual(frames.take(), [])
    await new Promise<void>((resolve) => frames.onReady(resolve))
    for (
      let taken = frames.take();
      taken !== undefined && taken.length > 0;
      taken = frames.take()
    ) {
      texts.push(...taken.map(String))
    }
    frames.close()
  })
  const expected = [small, large, small, small].map((stored) =>
    String(new InitialEvent(storedItem(stored)).frame()),
  )
  assert.ok(texts.join('') === expected.join(''))
  assert.ok(ms < 100, `${ms} ms`)
})

test('a watch that is closed while a large object is serialized sends no further frames', async () => {
  const frames = framesOf([[storedItem(service(30_000))]])
  assert.deepEqual(frames.take(), [])
  await nextTurn()
  frames.close()
  assert.deepEqual(frames.take(), [])
})

test('the frames of a watch that shares no frames with other watches take memory only until the next frames are requested', () => {
  const held: number[] = []
  const holdUnsent = (bytes: number): boolean => held.push(bytes) > 0
  const items = [1, 2, 3].map((ports) => storedItem(service(ports)))
  const frames = framesOf([items.slice(0, 2), items.slice(2)], holdUnsent)
  const lengths = [1, 2].map(() => Buffer.concat(frames.take() ?? []).length)
  assert.deepEqual(frames.take(), [])
  assert.deepEqual(held, [lengths[0], 0, lengths[1], 0])
  frames.close()
})

test('a watch ends with an error if there is no memory for its frames', () => {
  const frames = framesOf([[storedItem(service(1))], [storedItem(service(2))]], () => false)
  assert.equal(String(frames.take()), 'error 429')
})
