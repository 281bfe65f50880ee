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
