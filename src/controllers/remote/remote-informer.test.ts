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
/** Waits are over at once. */
const time: Time = {
  ...systemTime,
  after: (ms, run) => systemTime.after(ms > 60_000 ? ms : 1, run),
}
const none: Handler = () => Promise.reject(new Error('not asked for'))

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

test('all pages are told, then each change, whatever pieces it comes in', async () => {
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
  await until(() => one.names().join() === 'b,c', 'all changes are told')
  await until(() => asked.length === 4, 'the watch goes on')
  assert.deepEqual(asked, ['list null', 'list more', 'watch 5', 'watch 7'])
  assert.deepEqual(one.gone, [
    '//remote.example.com/v1/things/n/old',
    '//remote.example.com/v1/things/n/a',
  ])
})

test('while the server is away what was known stays known, and what went meanwhile is told when it is back', async () => {
  const remote = new RemoteApiServer()
  remote.create('a')
  remote.create('b')
  await using one = new RemoteInformerFixture(remote.before(none))
  await one.followed.listed
  await until(() => remote.watchers === 1, 'it is watched')
  let asked = 0
  remote.answer = () => {
    asked++
    return answering(503, 'away')
  }
  remote.objects.clear()
  remote.create('c')
  remote.endWatches()
  await until(() => asked > 3, 'it is asked again and again')
  assert.deepEqual(one.gone, [])
  remote.answer = () => undefined
  await until(() => one.names().join() === 'c', 'all is told')
})

const strange: { readonly [name: string]: () => ApiResponse } = {
  'a page that goes on for ever': () => answering(200, '{"metadata":{"continue":"x"},"items":[]}'),
  'no list': () => answering(200, '{"metadata":{},"items":{}}'),
  'no items': () => answering(200, '{"metadata":{}}'),
  'an object without a uid': () =>
    answering(200, '{"metadata":{},"items":[{"metadata":{"name":"x"}}]}'),
  text: () => answering(200, 'all is well'),
  'a line without an end': () => ({ status: 200, headers: {}, frames: endless() }),
}
for (const [name, answer] of Object.entries(strange)) {
  test(`a server that answers ${name} is asked again, and nothing is told`, async () => {
    let asked = 0
    await using one = new RemoteInformerFixture(async () => {
      asked++
      return answer()
    })
    await one.followed.tried
    await until(() => asked > 1, 'it is asked again')
    assert.deepEqual([one.followed.isListed, one.names(), one.gone], [false, [], []])
  })
}

test('the event loop runs on while an event without an end is watched, and the watch is given up', async () => {
  const remote = new RemoteApiServer()
  let closed = 0
  remote.answer = ({ query }) =>
    query.has('watch') ? { status: 200, headers: {}, frames: endless(() => closed++) } : undefined
  await using one = new RemoteInformerFixture(remote.before(none))
  await one.followed.listed
  await until(() => closed > 0, 'it is given up')
})

test('an object with more owners than can be read is one without, and the others are known', async () => {
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

/** Counted as half a megabyte, in a tenth of that of JSON. */
const owned = (name: string) => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }
  return {
    metadata: {
      ...item(name).metadata,
      ownerReferences: Array.from({ length: 1_000 }, () => owner),
    },
  }
}
/** More than the owners of one resource may take. */
const OWNED = 150

test('objects whose owners take more memory than one resource may have are not followed', async () => {
  const errors: string[] = []
  const log: Log = (_, __, fields) => errors.push(String(fields?.['error']))
  await using one = new RemoteInformerFixture(
    listing(Array.from({ length: OWNED }, (_, n) => owned(`o-${n}`))),
    { log },
  )
  await one.followed.tried
  assert.deepEqual(errors, ['Error: there are more than 100000 objects, or 67108864 bytes of them'])
  assert.equal(one.followed.isListed, false)
  assert.ok(one.names().length < OWNED)
})

test('an object that changes, or goes and comes back, takes the memory of one', async () => {
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
  await until(() => one.told.has('//remote.example.com/v1/things/n/last'), 'all changes are told')
  assert.deepEqual(remote.asked, Array(2).fill('GET /apis/remote.example.com/v1/things'))
})

test('calls that fail together are one failure: the wait after it is the first', async () => {
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
  assert.match((await messages(1))[0] ?? '', /was away a moment ago$/)
  nowMs += 500
  assert.deepEqual(await messages(1), ['cut'])
  nowMs += 500
  assert.match((await messages(1))[0] ?? '', /was away a moment ago$/)
  nowMs += 500
  assert.deepEqual(await messages(1), ['cut'])
})

test('objects of another scope, or without a name that can be one, are not known', async () => {
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

/** A server that has these objects, and tells of no others. */
const listing =
  (items: readonly object[]): Handler =>
  async ({ query }) =>
    query.has('watch')
      ? { status: 200, headers: {}, frames: open() }
      : answering(200, JSON.stringify({ metadata: {}, items }))
