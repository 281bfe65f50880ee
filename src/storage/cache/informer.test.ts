import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusyLoop } from '../../../test/support/harness/turns.ts'
import { until } from '../../../test/support/harness/until.ts'
import { type KubeObject, textOf } from '../../api/object.ts'
import type { WatchEvent } from './event.ts'
import { Item, type ItemHome } from './item.ts'
import type { WatchOptions } from './open-watch.ts'
import type { EventSource } from './watch.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Slices, type Steps } from '../../lib/scheduling/slices.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import { StorageError } from '../errors.ts'
import { contentOf, Informer } from './informer.ts'

const range = { from: '/r/', to: '/r0' }

/** A watch whose events are supplied by the test. */
class FedSource implements EventSource {
  readonly start: WatchOptions['start']
  state: EventSource['state'] = 'live'
  readonly hasNews = true
  #events: WatchEvent[] = []
  #onReady: (() => void) | undefined

  constructor(start: WatchOptions['start']) {
    this.start = start
  }

  /** Adds events. With `isQuiet`, they can be taken, but the consumer is not notified. */
  feed(events: readonly WatchEvent[], { isQuiet = false } = {}): void {
    this.#events.push(...events)
    if (!isQuiet) this.#wake()
  }

  take(): readonly WatchEvent[] {
    return this.#events.splice(0, 2)
  }

  onReady(ready: () => void): void {
    this.#onReady = ready
    if (this.#events.length > 0 || this.state === 'closed') setImmediate(() => this.#wake())
  }

  requestBookmark(): void {}

  close(): void {
    this.state = 'closed'
    this.#wake()
  }

  #wake(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}

const itemOf = (name: string, value: string, revision: number): Item => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Plain', metadata: { name }, value }
  const decode = (): KubeObject => {
    if (value === 'unreadable') throw new StorageError('corrupt', 'no object')
    return object
  }
  const head = '{"apiVersion":"v1","kind":"Plain",'
  let stored = Buffer.from('stored')
  const home: ItemHome = {
    codec: {
      decode,
      print: () => ({
        bytes: Buffer.from(`${JSON.stringify(object)}\n`),
        headBytes: head.length,
        versionAt: 1,
      }),
    },
    put: (item, bytes) => {
      stored = Buffer.from(bytes)
      item.length = bytes.length
    },
    view: (_item, start = 0, end = stored.length) => stored.subarray(start, end),
    keep: () => undefined,
  }
  return new Item(home, { key: `/r/${name}`, revision, createRevision: 1 })
}

const shown = (
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  name: string,
  value: string,
  revision: number,
): WatchEvent => ({
  type,
  revision,
  item: itemOf(name, value, revision),
  isShared: false,
  frame: () => assert.fail(),
})
const listEnd = (revision: number): WatchEvent => ({
  type: 'BOOKMARK',
  revision,
  initialEventsEnd: true,
})

const large = (event: WatchEvent): WatchEvent => {
  if (event.type !== 'BOOKMARK') event.item.length = 100_000
  return event
}

type PrepareOptions = { readonly prepare?: (item: Item, slices: Slices) => Promise<unknown> }

function follow(
  unreadable?: (key: string) => void,
  time: Time = systemTime,
  preparing: PrepareOptions = {},
) {
  const values = new Map<string, string>()
  const sources: FedSource[] = []
  const opened: (() => void)[] = []
  let seen = 0
  const reader = { isBehind: false, onWatch: (): void => undefined }
  /** The processing of an object with the value 'long' does not end until a test sets `isOver`. */
  const long = { isOver: false }
  const setInSteps = function* (key: string): Steps<void> {
    while (!long.isOver) yield undefined
    values.set(key, 'long')
  }
  const informer = new Informer({
    name: 'things',
    reader: {
      list: async () => ({
        revision: 0,
        items: [],
        more: false,
        remaining: 0,
        ...(reader.isBehind ? {} : { state: 's' }),
      }),
      watch: async ({ start }) => {
        const source = new FedSource(start)
        reader.onWatch()
        sources.push(source)
        opened.shift()?.()
        return source
      },
    },
    range,
    read: contentOf,
    set: (key, object) => {
      if (object?.['value'] === 'refused') throw new Error('refused')
      if (object === undefined) values.delete(key)
      else if (object['value'] === 'long') return setInSteps(key)
      else values.set(key, textOf(object['value']))
      return undefined
    },
    ...(unreadable === undefined ? {} : { unreadable }),
    ...preparing,
    known: () => values.keys(),
    log: silent,
    time,
  })
  const next = async (): Promise<FedSource> => {
    const at = seen++
    if (sources.length <= at) await new Promise<void>((resolve) => opened.push(resolve))
    return sources[at] ?? assert.fail()
  }
  return { followed: informer, values, sources, reader, long, next }
}

test('`start` resolves after all existing objects are reported, and later changes are also reported', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'a', '1', 5), shown('ADDED', 'b', '2', 3), listEnd(7)])
  await starting
  assert.deepEqual(
    [...values],
    [
      ['/r/a', '1'],
      ['/r/b', '2'],
    ],
  )
  source.feed([shown('MODIFIED', 'a', '3', 8), shown('DELETED', 'b', '2', 9)])
  await informer.reach(9)
  assert.deepEqual([...values], [['/r/a', '3']])
  await informer[Symbol.asyncDispose]()
})

test('`reach` does not resolve before the list that includes the revision has ended', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'b', '2', 30)])
  let isReached = false
  const reaching = informer.reach(20).then(() => {
    isReached = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok(!isReached)
  source.feed([shown('ADDED', 'c', '4', 20), listEnd(31)])
  await Promise.all([starting, reaching])
  assert.equal(values.get('/r/c'), '4')
  await informer[Symbol.asyncDispose]()
})

test('if `take` closes the watch because the watch is too slow, `latest` waits for the next list', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([listEnd(1)])
  await starting
  source.feed([shown('ADDED', 'a', '1', 2)], { isQuiet: true })
  const take = source.take.bind(source)
  source.take = () => {
    const events = take()
    // The event ring has evicted the next event.
    if (events.length === 0) source.state = 'closed'
    return events
  }
  let isLatest = false
  const latest = informer.latest().then(() => {
    isLatest = true
  })
  await until(() => source.state === 'closed', 'the watch is closed')
  source.close()
  const again = await next()
  assert.deepEqual([[...values], isLatest], [[['/r/a', '1']], false])
  again.feed([shown('ADDED', 'a', '1', 2), shown('ADDED', 'b', '1', 3), listEnd(3)])
  await latest
  assert.equal(values.size, 2)
  await informer[Symbol.asyncDispose]()
})

test('`latest` immediately reports the events that the cache already has', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([listEnd(1)])
  await starting
  source.feed(
    Array.from({ length: 9 }, (_, at) => shown('ADDED', `x${at}`, '1', at + 2)),
    { isQuiet: true },
  )
  await informer.latest()
  assert.equal(values.size, 9)
  await informer[Symbol.asyncDispose]()
})

test('when a watch ends, the informer lists all objects again, and reports missing objects as deleted', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const first = await next()
  first.feed([shown('ADDED', 'a', '1', 5), shown('ADDED', 'b', '1', 6), listEnd(7)])
  await starting
  first.close()
  const second = await next()
  assert.ok('initial' in second.start)
  // While the list is in progress, the old state is retained.
  second.feed([shown('ADDED', 'b', '2', 3)])
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(values.get('/r/a'), '1')
  // The database may have been replaced by an older one, with lower revisions.
  second.feed([listEnd(4)])
  await informer.reach(4)
  assert.deepEqual([...values], [['/r/b', '2']])
  await informer[Symbol.asyncDispose]()
})

test('an object that is added before the watch opens but is not listed is reported as deleted', async () => {
  const { followed: informer, values, reader, next } = follow()
  reader.onWatch = () => void values.set('/r/early', '1')
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'a', '1', 5), listEnd(7)])
  await starting
  assert.deepEqual([...values], [['/r/a', '1']])
  await informer[Symbol.asyncDispose]()
})

test('a large object is prepared before it is reported, and events keep their order', async () => {
  const first = Promise.withResolvers<void>()
  const preparations = [() => first.promise, () => Promise.reject(new Error('cannot be decoded'))]
  const prepared: string[] = []
  const prepare = ({ key }: Item): Promise<void> => {
    prepared.push(key)
    return preparations.shift()?.() ?? assert.fail()
  }
  const { followed: informer, values, next } = follow(undefined, systemTime, { prepare })
  const starting = informer.start()
  const source = await next()
  source.feed([listEnd(7)])
  await starting
  source.feed([
    large(shown('ADDED', 'a', '1', 8)),
    shown('ADDED', 'b', '2', 9),
    large(shown('ADDED', 'c', '3', 10)),
  ])
  const reached = informer.reach(10)
  await until(() => prepared.length === 1, 'the first object is being prepared')
  assert.equal(values.size, 0)
  first.resolve()
  await reached
  assert.deepEqual(
    [[...values.keys()], prepared],
    [
      ['/r/a', '/r/b', '/r/c'],
      ['/r/a', '/r/c'],
    ],
  )
  await informer[Symbol.asyncDispose]()
})

test('`reach` resolves only after all processing steps of the object have ended', async () => {
  const { followed: informer, values, long, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'a', '1', 5), listEnd(7)])
  await starting
  source.feed([shown('MODIFIED', 'a', 'long', 8)])
  await until(() => informer.revision === 8, 'the object is being reported')
  let isReached = false
  const reaching = informer.reach(8).then(() => {
    isReached = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  const early = [values.get('/r/a'), isReached]
  long.isOver = true
  await reaching
  assert.deepEqual(early, ['1', false])
  assert.equal(values.get('/r/a'), 'long')
  await informer[Symbol.asyncDispose]()
})

test('a large object is prepared before expensive client requests continue', async () => {
  const order: string[] = []
  const prepared = Promise.withResolvers<void>()
  const prepare = async (_item: Item, slices: Slices): Promise<void> => {
    for (let request = 0; request < 3; request++) {
      void new Slices(systemTime, { isExpensive: true }).turn().then(() => order.push('request'))
    }
    assert.ok(slices.isExpensive)
    await slices.turn()
    order.push('prepared')
    prepared.resolve()
  }
  const { followed: informer, next } = follow(undefined, systemTime, { prepare })
  const starting = informer.start()
  const source = await next()
  source.feed([large(shown('ADDED', 'a', '1', 5)), listEnd(7)])
  await prepared.promise
  assert.deepEqual(order, ['prepared'])
  await starting
  await informer[Symbol.asyncDispose]()
})

test('an object that cannot be decoded is reported as deleted', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'a', '1', 5), listEnd(7), shown('MODIFIED', 'a', 'unreadable', 8)])
  await starting
  await informer.reach(8)
  assert.equal(values.size, 0)
  await informer[Symbol.asyncDispose]()
})

test('a waiting caller is released when its signal is aborted or the informer stops', async () => {
  const { followed: informer, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([listEnd(7)])
  await starting
  await assert.rejects(informer.reach(9, AbortSignal.timeout(10)), {
    name: 'StorageError',
    code: 'cancelled',
  })
  const reaching = informer.reach(9)
  await informer[Symbol.asyncDispose]()
  await reaching
})

test('`latest` fails while the cache is far behind', async () => {
  const { followed: informer, reader, next } = follow()
  const starting = informer.start()
  const source = await next()
  source.feed([listEnd(7)])
  await starting
  reader.isBehind = true
  await assert.rejects(informer.latest(), { name: 'StorageError', code: 'unavailable' })
  await informer[Symbol.asyncDispose]()
})

test('the informer lists all objects again after its consumer fails to process a change', async () => {
  const { followed: informer, values, next } = follow()
  const starting = informer.start()
  const first = await next()
  first.feed([shown('ADDED', 'a', '1', 5), listEnd(7)])
  await starting
  first.feed([shown('MODIFIED', 'a', 'refused', 8)])
  const second = await next()
  second.feed([shown('ADDED', 'a', '2', 9), listEnd(9)])
  await informer.reach(9)
  assert.deepEqual([...values], [['/r/a', '2']])
  await informer[Symbol.asyncDispose]()
})

test('if the consumer always fails to process an object, lists are repeated with increasing delays', async () => {
  const waits: number[] = []
  let passedMs = 0
  const time: Time = {
    ...systemTime,
    monotonicMs: () => systemTime.monotonicMs() + passedMs,
    after: (ms, run) => {
      waits.push(ms)
      return systemTime.after(0, run)
    },
  }
  const { followed: informer, next } = follow(undefined, time)
  void informer.start()
  for (let at = 0; at < 10; at++)
    (await next()).feed([shown('ADDED', 'a', 'refused', 8), listEnd(9)])
  const later = await next()
  assert.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
  passedMs = 3_600_000
  later.feed([shown('ADDED', 'a', 'refused', 8)])
  // A watch that ends does not count as a failure of the consumer.
  const last = await next()
  last.feed([shown('ADDED', 'a', '1', 9), listEnd(9)])
  await informer.reach(9)
  last.close()
  await next()
  assert.deepEqual(waits.slice(10), [100, 100])
  await informer[Symbol.asyncDispose]()
})

test('with an `unreadable` handler, an object that cannot be decoded is not reported as deleted', async () => {
  const unreadable: string[] = []
  const { followed: informer, values, next } = follow((key) => unreadable.push(key))
  const starting = informer.start()
  const source = await next()
  source.feed([shown('ADDED', 'a', '1', 5), shown('ADDED', 'b', 'unreadable', 6), listEnd(7)])
  await starting
  source.feed([shown('MODIFIED', 'a', 'unreadable', 8)])
  await informer.reach(8)
  assert.deepEqual([[...values], unreadable], [[['/r/a', '1']], ['/r/b', '/r/a']])
  await informer[Symbol.asyncDispose]()
})

test('the informer makes progress while many long lists run', async () => {
  await using loop = new BusyLoop()
  const { followed: informer, values, next } = follow(undefined, loop.time)
  void informer.start()
  const source = await next()
  source.feed(Array.from({ length: 200 }, (_, at) => shown('ADDED', `${at}`, '1', at + 1)))
  const turns = await loop.turnsUntil(() => values.size === 200)
  await informer[Symbol.asyncDispose]()
  assert.ok(turns <= 200, `${turns} turns`)
})
