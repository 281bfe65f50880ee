import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { systemClock } from '../lib/time/clock.ts'
import { silent } from '../lib/telemetry/log.ts'
import type { Engine, FeedListener } from './engine.ts'
import { Feed, SILENCE_MAX_MS } from './feed.ts'

const root = '/registry/'

const unexpected = (): Promise<never> => Promise.reject(new Error('not asked for here'))

/** A fake database with a revision and streams, but without data. */
class StreamEngine implements Engine {
  revision = 10
  readonly sinks: FeedListener[] = []

  latest = (): Promise<number> => Promise.resolve(this.revision)

  openFeed: Engine['openFeed'] = (_, sink) => {
    this.sinks.push(sink)
    return { requestProgress: () => undefined, close: () => undefined }
  }

  range = unexpected
  change = unexpected
  grantLease = unexpected

  async [Symbol.asyncDispose](): Promise<void> {}
}

test('an event feed does not count as live if its stream has not reported anything recently', async () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  try {
    let nowMs = 1_000
    const pass = (ms: number): void => {
      for (let i = 0; i < ms; i += 50) {
        nowMs += 50
        mock.timers.tick(50)
      }
    }
    const engine = new StreamEngine()
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    await using feed = new Feed({ engine, root, log: silent, clock })
    await feed.start()
    assert.equal(feed.isLive, true, 'the database has just answered')
    pass(SILENCE_MAX_MS)
    for (let i = 0; i < 4; i++) {
      assert.equal(feed.isLive, false, `after ${engine.sinks.length} streams`)
      pass(SILENCE_MAX_MS)
    }
    assert.ok(engine.sinks.length > 3, 'a silent stream is given up for another')
    engine.sinks.at(-1)?.onProgress(11)
    assert.equal(feed.isLive, true)
  } finally {
    mock.timers.reset()
  }
})

test('consumers are notified of a gap if the next revision of their range has been compacted', async () => {
  const engine = new StreamEngine()
  await using feed = new Feed({ engine, root, log: silent, clock: systemClock })
  await feed.start()
  let gaps = 0
  const ignore = { onEvents: () => undefined, onReset: () => undefined }
  feed.subscribe(`${root}pods/`, { ...ignore, onGap: () => gaps++ })
  engine.revision = 12
  engine.sinks.at(-1)?.onCompacted(0, feed.revision + 1)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(gaps, 1)
  assert.equal(engine.sinks.length, 2)
})

test('an event feed that is disposed of during the recovery from a compaction opens no new stream', async () => {
  const engine = new StreamEngine()
  const feed = new Feed({ engine, root, log: silent, clock: systemClock })
  await feed.start()
  const { promise, resolve } = Promise.withResolvers<number>()
  engine.latest = () => promise
  engine.sinks.at(-1)?.onCompacted(0, feed.revision + 1)
  await feed[Symbol.asyncDispose]()
  resolve(12)
  await new Promise((done) => setImmediate(done))
  assert.equal(engine.sinks.length, 1)
})

test('an event feed that is disposed of while it starts opens no stream', async () => {
  const engine = new StreamEngine()
  const { promise, resolve } = Promise.withResolvers<number>()
  engine.latest = () => promise
  const feed = new Feed({ engine, root, log: silent, clock: systemClock })
  const starting = feed.start()
  await feed[Symbol.asyncDispose]()
  resolve(12)
  await assert.rejects(starting, { code: 'unavailable' })
  assert.equal(engine.sinks.length, 0)
})
