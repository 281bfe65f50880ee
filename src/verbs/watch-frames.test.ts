import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventSource } from '../cache/watch.ts'
import { FrameMemory } from './represent/frame-memory.ts'
import type { Framing } from './represent/framing.ts'
import { WatchFrames } from './watch-frames.ts'

const LARGE = 100 << 10

/** Counts what it holds. */
class CountedMemory extends FrameMemory {
  releases = 0

  override release(): void {
    this.releases++
    super.release()
  }
}

test('a watch that has sent its initial objects and has nothing more to send holds no memory for them', () => {
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
  const framing: Framing = { headers: {}, error: () => Buffer.alloc(0), event: () => memory.take(LARGE), memory }
  const options = {
    framing,
    timeoutMs: 60_000,
    sendsBookmarks: false,
    onFrames: () => undefined,
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

test('a long event is sent in parts, between frames, and counts once', () => {
  const batches = [[1, 2, 3].map((revision) => ({ type: 'BOOKMARK', revision, initialEventsEnd: false }) as const)]
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
    memory: undefined,
  }
  const lengths: number[] = []
  const frames = new WatchFrames(watcher, {
    framing,
    timeoutMs: 60_000,
    sendsBookmarks: false,
    onFrames: (sent) => lengths.push(...sent.map(({ length }) => length)),
    onEnd: () => undefined,
  })
  try {
    assert.equal(Buffer.concat(frames.take() ?? []).toString(), 'frame 1\nbegin 2\nframe 3\n')
    assert.deepEqual(lengths, [8, 8, 8])
  } finally {
    frames.close()
  }
})
