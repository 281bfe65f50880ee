import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../../api/request.ts'
import type { ApiResponse, FrameSource } from '../../api/request.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import {
  answering,
  RemoteApiServer,
  things,
} from '../../../test/support/harness/remote-api-server.ts'
import { until } from '../../../test/support/harness/until.ts'
import { RemoteInformer } from './remote-informer.ts'
import { RemoteCalls, RemoteObjects } from './remote-objects.ts'

const { signal } = new AbortController()
/** Timers with a delay of up to a minute fire immediately. Longer delays are not changed. */
const time: Time = {
  ...systemTime,
  after: (ms, run) => systemTime.after(ms > 60_000 ? ms : 1, run),
}
const none: Handler = () => Promise.reject(new Error('unexpected request'))

class RemoteInformerFixture implements AsyncDisposable {
  readonly told = new Map<string, string>()
  readonly gone: string[] = []
  readonly followed: RemoteInformer

  constructor(
    handle: Handler,
    { known = [], log = silent }: { known?: readonly string[]; log?: Log } = {},
  ) {
    const objects = new RemoteObjects(things, {
      handle,
      signal,
      log,
      time,
      calls: new RemoteCalls(),
    })
    this.followed = new RemoteInformer(objects, {
      set: (key, head) => {
        if (head === undefined) this.gone.push(key)
        if (head === undefined) this.told.delete(key)
        else this.told.set(key, head.uid)
      },
      known: () => known,
    })
  }

  names = (): string[] =>
    Array.from(this.told.keys(), (key) => key.slice(key.lastIndexOf('/') + 1)).toSorted()

  async [Symbol.asyncDispose](): Promise<void> {
    await this.followed[Symbol.asyncDispose]()
  }
}

const item = (name: string) => ({ metadata: { name, namespace: 'n', uid: `uid-${name}` } })

test('all pages of a list and then all watch events are reported, no matter how the responses are split into chunks', async () => {
  const event = JSON.stringify({ type: 'ADDED', object: item('c') })
  const gone = JSON.stringify({ type: 'DELETED', object: item('a') })
  const whole = Buffer.from(
    `${event}\n\n${gone}\n${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } })}\n`,
  )
  const asked: string[] = []
  const handle: Handler = async ({ query }) => {
    asked.push(
      query.get('watch') === 'true'
        ? `watch ${query.get('resourceVersion')}`
        : `list ${query.get('continue')}`,
    )
    if (query.get('watch') === 'true')
      return { status: 200, headers: {}, frames: asked.length > 3 ? open() : oneByOne(whole) }
    const isFirst = query.get('continue') === null
    const metadata = { resourceVersion: '5', ...(isFirst ? { continue: 'more' } : {}) }
    return answering(200, JSON.stringify({ metadata, items: [item(isFirst ? 'a' : 'b')] }))
  }
  await using one = new RemoteInformerFixture(handle, {
    known: ['//remote.example.com/v1/things/n/old'],
  })
  await one.followed.listed
  await until(() => one.names().join() === 'b,c', 'all changes are reported')
  await until(() => asked.length === 4, 'the next watch is open')
  assert.deepEqual(asked, ['list null', 'list more', 'watch 5', 'watch 7'])
  assert.deepEqual(one.gone, [
    '//remote.example.com/v1/things/n/old',
    '//remote.example.com/v1/things/n/a',
  ])
})

test('objects of a remote server stay known while the server is unreachable, and deletions are reported afterwards', async () => {
  const remote = new RemoteApiServer()
  remote.create('a')
  remote.create('b')
  await using one = new RemoteInformerFixture(remote.before(none))
  await one.followed.listed
  await until(() => remote.watchers === 1, 'the resource is watched')
  let asked = 0
  remote.answer = () => {
    asked++
    return answering(503, 'away')
  }
  remote.objects.clear()
  remote.create('c')
  remote.endWatches()
  await until(() => asked > 3, 'requests are retried')
  assert.deepEqual(one.gone, [])
  remote.answer = () => undefined
  await until(() => one.names().join() === 'c', 'all changes are reported')
})

const strange: { readonly [name: string]: () => ApiResponse } = {
  'pages without end': () => answering(200, '{"metadata":{"continue":"x"},"items":[]}'),
  'items that are not a list': () => answering(200, '{"metadata":{},"items":{}}'),
  'no items': () => answering(200, '{"metadata":{}}'),
  'an object without a uid': () =>
    answering(200, '{"metadata":{},"items":[{"metadata":{"name":"x"}}]}'),
  text: () => answering(200, 'all is well'),
  'a line without an end': () => ({ status: 200, headers: {}, frames: endless() }),
}
for (const [name, answer] of Object.entries(strange)) {
  test(`if a server sends ${name}, the request is retried, and no object is reported`, async () => {
    let asked = 0
    await using one = new RemoteInformerFixture(async () => {
      asked++
      return answer()
    })
    await one.followed.tried
    await until(() => asked > 1, 'the request is retried')
    assert.deepEqual([one.followed.isListed, one.names(), one.gone], [false, [], []])
  })
}

test('an endless event does not block the event loop, and the watch is aborted', async () => {
  const remote = new RemoteApiServer()
  let closed = 0
  remote.answer = ({ query }) =>
    query.has('watch') ? { status: 200, headers: {}, frames: endless(() => closed++) } : undefined
  await using one = new RemoteInformerFixture(remote.before(none))
  await one.followed.listed
  await until(() => closed > 0, 'the watch is aborted')
})

test('an object with too many owners is treated as an object without owners, and other objects are not affected', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o'.repeat(250), uid: 'u' }
  const many = {
    metadata: {
      ...item('many').metadata,
      ownerReferences: Array.from({ length: 1_000 }, () => owner),
    },
  }
  const items = [item('a'), many, item('b')]
  await using one = new RemoteInformerFixture(listing(items))
  await one.followed.listed
  assert.deepEqual(one.names(), ['a', 'b', 'many'])
  assert.deepEqual(one.followed.get('//remote.example.com/v1/things/n/many')?.owners, [])
})

/**
 * Creates an object that counts as half a megabyte toward the memory limit, although its JSON has
 * only a tenth of that size.
 */
const owned = (name: string) => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }
  return {
    metadata: {
      ...item(name).metadata,
      ownerReferences: Array.from({ length: 1_000 }, () => owner),
    },
  }
}
/** Number of objects of `owned` that together exceed the memory limit of one resource. */
const OWNED = 150

test('a resource whose owners exceed the memory limit is not watched', async () => {
  const errors: string[] = []
  const log: Log = (_, __, fields) => errors.push(String(fields?.['error']))
  await using one = new RemoteInformerFixture(
    listing(Array.from({ length: OWNED }, (_, n) => owned(`o-${n}`))),
    { log },
  )
  await one.followed.tried
  assert.deepEqual(errors, [
    'Error: the resource has more than 100000 objects or 67108864 bytes of metadata',
  ])
  assert.equal(one.followed.isListed, false)
  assert.ok(one.names().length < OWNED)
})

test('an object that is changed, or deleted and recreated, counts only once toward the memory limit for owners', async () => {
  const remote = new RemoteApiServer()
  await using one = new RemoteInformerFixture(remote.before(none))
  await one.followed.listed
  await until(() => remote.watchers === 1, 'it is watched')
  const { ownerReferences } = owned('a').metadata
  for (let n = 0; n < OWNED; n++) {
    if (n % 2 === 0) remote.remove('a')
    remote.create('a', { ownerReferences })
  }
  remote.create('last')
  await until(
    () => one.told.has('//remote.example.com/v1/things/n/last'),
    'all changes are reported',
  )
  assert.deepEqual(remote.asked, Array(2).fill('GET /apis/remote.example.com/v1/things'))
})

test('concurrent failures of calls to a remote server count as one failure for the delay before the next call', async () => {
  let nowMs = 1_000
  const stepped: Time = { ...systemTime, monotonicMs: () => nowMs }
  const objects = new RemoteObjects(things, {
    handle: cut,
    signal,
    log: silent,
    time: stepped,
    calls: new RemoteCalls(),
  })
  const key = objects.keys.key('n', 'a')
  const messages = async (count: number): Promise<string[]> => {
    const calls = await Promise.allSettled(Array.from({ length: count }, () => objects.get(key)))
    return calls.map((one) => (one.status === 'rejected' ? String(one.reason.message) : 'found'))
  }
  assert.deepEqual(await messages(8), Array(8).fill('cut'))
  assert.match((await messages(1))[0] ?? '', /was unavailable a moment ago$/)
  nowMs += 500
  assert.deepEqual(await messages(1), ['cut'])
  nowMs += 500
  assert.match((await messages(1))[0] ?? '', /was unavailable a moment ago$/)
  nowMs += 500
  assert.deepEqual(await messages(1), ['cut'])
})

test('objects of another scope or with an invalid name are ignored', async () => {
  const items = [
    item('a'),
    { metadata: { name: 'wide', uid: 'w' } },
    { metadata: { name: 'a/b', namespace: 'n', uid: 'x' } },
  ]
  await using one = new RemoteInformerFixture(listing(items))
  await one.followed.listed
  assert.deepEqual(one.names(), ['a'])
})

function oneByOne(bytes: Buffer): FrameSource {
  let at = 0
  return {
    take: () => (at < bytes.length ? [bytes.subarray(at, ++at)] : undefined),
    onReady: (ready) => queueMicrotask(ready),
    close: () => undefined,
  }
}

const idle = (): void => undefined

function open(): FrameSource {
  let end = idle
  let isOver = false
  return {
    take: () => (isOver ? undefined : []),
    onReady: (ready) => {
      if (isOver) queueMicrotask(ready)
      else end = ready
    },
    close: () => {
      isOver = true
      end()
    },
  }
}

function endless(onClose: () => void = () => undefined): FrameSource {
  const piece = Buffer.alloc(1 << 20, 'a')
  let isOver = false
  return {
    take: () => (isOver ? undefined : [piece]),
    onReady: (ready) => queueMicrotask(ready),
    close: () => {
      isOver = true
      onClose()
    },
  }
}

const cut: Handler = () => Promise.reject(new Error('cut'))

/** Creates a server that has these objects and reports no changes. */
const listing =
  (items: readonly object[]): Handler =>
  async ({ query }) =>
    query.has('watch')
      ? { status: 200, headers: {}, frames: open() }
      : answering(200, JSON.stringify({ metadata: {}, items }))
