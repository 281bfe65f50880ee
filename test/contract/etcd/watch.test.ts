import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { WatchCreate, EtcdEvent } from '../../../src/storage/etcd/codec/watch.ts'
import type { GrpcError } from '../../../src/net/grpc/errors.ts'
import type { WatchHandle, WatchStream } from '../../../src/storage/etcd/watch.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { until } from './wait.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
let etcd: EtcdProcess
let client: EtcdClient

before(async () => {
  etcd = await startEtcd()
  client = new EtcdClient({ endpoints: [etcd.clientUrl] })
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await etcd[Symbol.asyncDispose]()
})

type EndedWatch = { readonly error: GrpcError | undefined }

class Recorder {
  readonly progress: number[] = []
  readonly ends: EndedWatch[] = []
  readonly stream: WatchStream

  constructor(options: { readonly requireLeader?: boolean } = {}) {
    this.stream = client.watch.open({
      ...options,
      onProgressAll: (revision) => this.progress.push(revision),
      onEnd: (error) => this.ends.push({ error }),
    })
  }

  watch(create: WatchCreate): RecordedWatch {
    return new RecordedWatch(this.stream, create)
  }
}

class RecordedWatch {
  readonly created: number[] = []
  readonly calls: { readonly events: readonly EtcdEvent[]; readonly headerRevision: number }[] = []
  readonly progress: number[] = []
  readonly canceled: { readonly reason: string; readonly compactRevision: number }[] = []
  readonly handle: WatchHandle

  constructor(stream: WatchStream, create: WatchCreate) {
    this.handle = stream.create(create, {
      onCreated: (revision) => this.created.push(revision),
      onEvents: (events, headerRevision) => this.calls.push({ events, headerRevision }),
      onProgress: (revision) => this.progress.push(revision),
      onCanceled: (end) => this.canceled.push(end),
    })
  }

  get events(): EtcdEvent[] {
    return this.calls.flatMap((call) => call.events)
  }
}

test('a watch delivers past and new events', async () => {
  const { kv } = client
  const { revision } = await kv.put({ key: bytes('w1/a'), value: bytes('1') })
  const recorder = new Recorder({ requireLeader: true })
  const watched = recorder.watch({
    key: bytes('w1/'),
    rangeEnd: bytes('w10'),
    startRevision: revision,
    prevKv: true,
  })
  await until(() => watched.events.length === 1, 'the past event')
  await kv.put({ key: bytes('w1/a'), value: bytes('2') })
  await kv.put({ key: bytes('elsewhere'), value: bytes('x') })
  await kv.deleteRange({ key: bytes('w1/a') })
  await until(() => watched.events.length === 3, 'three events')
  deepEqual(
    watched.events.map((event) => [
      event.type,
      event.kv.value.toString(),
      event.kv.modRevision,
      event.prevKv?.value.toString(),
    ]),
    [
      ['put', '1', revision, undefined],
      ['put', '2', revision + 1, '1'],
      ['delete', '', revision + 3, '2'],
    ],
  )
  equal(watched.created.length, 1)
  recorder.stream.close()
  recorder.stream.close()
  deepEqual(recorder.ends, [{ error: undefined }])
})

test('all events of a transaction are passed to the watch handler in one call', async () => {
  const recorder = new Recorder()
  const watched = recorder.watch({ key: bytes('w2/'), rangeEnd: bytes('w20') })
  await until(() => watched.created.length === 1, 'created')
  const success = Array.from({ length: 20 }, (_, index) => ({
    type: 'put' as const,
    key: bytes(`w2/${index}`),
    value: bytes('v'),
  }))
  await client.kv.txn({ compare: [], success, failure: [] })
  await until(() => watched.calls.length > 0, 'events')
  equal(watched.calls[0]?.events.length, 20)
  recorder.stream.close()
})

test('the fragments of a large watch response are passed to the handler in one call', async () => {
  const { kv } = client
  const value = Buffer.alloc(700 * 1024, 'f')
  const first = await kv.put({ key: bytes('w3/0'), value })
  for (let index = 1; index < 8; index++) await kv.put({ key: bytes(`w3/${index}`), value })
  // Open a second watch, which also starts in the past but does not request fragments. Its events
  // must not be mixed with the fragments of the first watch.
  const recorder = new Recorder()
  const range = { key: bytes('w3/'), rangeEnd: bytes('w30'), startRevision: first.revision }
  const cut = recorder.watch({ ...range, fragment: true })
  const whole = recorder.watch(range)
  await until(() => cut.events.length === 8 && whole.events.length === 8, 'all events', 20_000)
  equal(cut.calls.length, 1)
  ok(cut.events.every((event) => event.kv.value.equals(value)))
  recorder.stream.close()
})

test('a watch from a compacted revision is canceled, and other watches continue', async () => {
  const { kv } = client
  const { revision } = await kv.put({ key: bytes('w4/a'), value: bytes('1') })
  await kv.put({ key: bytes('w4/a'), value: bytes('2') })
  const recorder = new Recorder()
  const live = recorder.watch({ key: bytes('w4/a'), startRevision: revision + 2 })
  await until(() => live.created.length === 1, 'created')
  await kv.compact({ revision: revision + 1 })
  const late = recorder.watch({ key: bytes('w4/a'), startRevision: revision })
  await until(() => late.canceled.length === 1, 'cancelled')
  equal(late.canceled[0]?.compactRevision, revision + 1)
  await kv.put({ key: bytes('w4/a'), value: bytes('3') })
  await until(() => live.events.length === 1, 'the other watch continues')
  equal(live.canceled.length, 0)
  // A canceled watch must not prevent progress notifications of the other watches on its stream.
  const endMs = performance.now() + 60_000
  while (recorder.progress.at(-1) !== live.events[0]?.kv.modRevision && performance.now() < endMs) {
    recorder.stream.requestProgress()
    await sleep(50)
  }
  equal(recorder.progress.at(-1), live.events[0]?.kv.modRevision)
  deepEqual([late.canceled.length, recorder.ends.length], [1, 0])
  recorder.stream.close()
})

test('when all watches of a stream are synced, progress is reported once for the whole stream', async () => {
  const recorder = new Recorder()
  const one = recorder.watch({ key: bytes('w5/a') })
  const two = recorder.watch({ key: bytes('w5/b') })
  await until(() => one.created.length === 1 && two.created.length === 1, 'both created')
  const { revision } = await client.kv.put({ key: bytes('w5/other'), value: bytes('v') })
  const endMs = performance.now() + 60_000
  while (recorder.progress.at(-1) !== revision && performance.now() < endMs) {
    recorder.stream.requestProgress()
    await until(() => recorder.progress.length > 0, 'progress')
  }
  equal(recorder.progress.at(-1), revision)
  deepEqual([one.progress, two.progress], [[], []])
  recorder.stream.close()
})

test('a canceled watch receives no further events, and the stream continues', async () => {
  const recorder = new Recorder()
  const one = recorder.watch({ key: bytes('w6/a') })
  const two = recorder.watch({ key: bytes('w6/a') })
  await until(() => two.created.length === 1, 'created')
  one.handle.cancel()
  one.handle.cancel()
  await client.kv.put({ key: bytes('w6/a'), value: bytes('v') })
  await until(() => two.events.length === 1, 'the event of the other watch')
  deepEqual([one.events.length, one.canceled.length], [0, 0])
  recorder.stream.close()
})

test('a watch filter excludes events of one type', async () => {
  const recorder = new Recorder()
  const puts = recorder.watch({ key: bytes('w7/a'), without: 'delete' })
  const deletes = recorder.watch({ key: bytes('w7/a'), without: 'put' })
  await until(() => deletes.created.length === 1, 'created')
  await client.kv.put({ key: bytes('w7/a'), value: bytes('v') })
  await client.kv.deleteRange({ key: bytes('w7/a') })
  await until(() => puts.events.length === 1 && deletes.events.length === 1, 'one event each')
  deepEqual([puts.events[0]?.type, deletes.events[0]?.type], ['put', 'delete'])
  recorder.stream.close()
})

test('an error in a handler ends the stream with this error', async () => {
  const ends: (GrpcError | undefined)[] = []
  const stream = client.watch.open({ onEnd: (error) => ends.push(error) })
  let isCreated = false
  stream.create(
    { key: bytes('w8/a') },
    {
      onCreated: () => {
        isCreated = true
      },
      onEvents: () => {
        throw new Error('our own mistake')
      },
      onCanceled: () => undefined,
    },
  )
  await until(() => isCreated, 'created')
  await client.kv.put({ key: bytes('w8/a'), value: bytes('v') })
  await until(() => ends.length === 1, 'the end')
  ok(ends[0]?.message.includes('our own mistake'))
})

test('when its handler closes a stream, the stream reports its end and nothing else', async () => {
  const { kv } = client
  const { revision } = await kv.put({ key: bytes('w10/a'), value: bytes('v') })
  const reported: string[] = []
  const stream = client.watch.open({
    onProgressAll: () => reported.push('progress'),
    onEnd: () => reported.push('end'),
  })
  for (let count = 0; count < 5; count++) {
    stream.create(
      { key: bytes('w10/a'), startRevision: revision },
      {
        onEvents: () => {
          reported.push('events')
          stream.close()
        },
        onCanceled: () => reported.push('canceled'),
      },
    )
  }
  for (let count = 0; count < 5; count++) stream.requestProgress()
  await until(() => reported.includes('end'), 'the end')
  await kv.put({ key: bytes('w10/a'), value: bytes('v') })
  deepEqual(reported.filter((one) => one !== 'progress').slice(-2), ['events', 'end'])
  equal(reported.at(-1), 'end')
})

test('a live watch keeps up with a busy writer', async () => {
  const recorder = new Recorder()
  const watched = recorder.watch({ key: bytes('w9/'), rangeEnd: bytes('w90') })
  await until(() => watched.created.length === 1, 'created')
  const value = Buffer.alloc(1024)
  for (let round = 0; round < 50; round++) {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => client.kv.put({ key: bytes(`w9/${index}`), value })),
    )
  }
  await until(() => watched.events.length === 2000, 'all 2000 events')
  const revisions = watched.events.map((event) => event.kv.modRevision)
  ok(revisions.every((revision, index) => index === 0 || revision > (revisions[index - 1] ?? 0)))
  recorder.stream.close()
})
