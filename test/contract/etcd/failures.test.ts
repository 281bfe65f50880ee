/**
 * Tests failures on a real etcd: broken connections, dead or paused endpoints, deadlines and
 * cancellation.
 */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { GrpcError } from '../../../src/net/grpc/errors.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { startProxy } from './proxy.ts'
import { failure, until } from './wait.ts'

const key = Buffer.from('key')
const value = Buffer.from('value')

async function deadUrl(): Promise<string> {
  const [port] = await freePorts(1)
  return `http://127.0.0.1:${port}`
}

test('reads, writes and watches use another endpoint if the first endpoint is not reachable', async () => {
  await using etcd = await startEtcd()
  const dead = await deadUrl()
  await using client = new EtcdClient({ endpoints: [dead, etcd.clientUrl] })
  await client.kv.put({ key, value })
  equal((await client.kv.range({ key })).count, 1)
  await using watching = new EtcdClient({ endpoints: [dead, etcd.clientUrl] })
  let isCreated = false
  const stream = watching.watch.open({ onEnd: () => undefined })
  const onCreated = (): void => {
    isCreated = true
  }
  stream.create({ key }, { onCreated, onEvents: () => undefined, onCanceled: () => undefined })
  await until(() => isCreated, 'the watch')
})

test('if no endpoint is reachable, a call fails within its deadline, and the error says that nothing was written', async () => {
  await using client = new EtcdClient({ endpoints: [await deadUrl()], timeoutMs: 5000 })
  const error = await failure(client.kv.put({ key, value }))
  deepEqual([error.code, error.ambiguous], ['Unavailable', false])
  const ends: (GrpcError | undefined)[] = []
  client.watch.open({ onEnd: (end) => ends.push(end) })
  await until(() => ends.length > 0, 'the end')
  equal(ends[0]?.code, 'Unavailable')
  const short = await failure(client.kv.put({ key, value }, { timeoutMs: 30 }))
  equal(short.ambiguous, false)
})

test('if the response is lost, a read is retried, but a write fails with an unknown outcome', async () => {
  await using etcd = await startEtcd()
  await using proxy = await startProxy(etcd.clientUrl)
  await using client = new EtcdClient({ endpoints: [proxy.url] })
  const before = await client.kv.range({ key })
  proxy.holdAnswers()
  const write = failure(client.kv.put({ key, value }))
  await using direct = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await until(async () => (await direct.kv.range({ key })).count === 1, 'the write is applied')
  proxy.cut()
  const error = await write
  deepEqual([error.code, error.ambiguous, error.endpoint], ['Unavailable', true, proxy.url])
  const found = await client.kv.range({ key })
  // The write was applied exactly once.
  equal(found.kvs[0]?.version, 1)
  equal(found.revision, before.revision + 1)

  proxy.holdAnswers()
  const read = client.kv.range({ key })
  await sleep(500)
  proxy.cut()
  equal((await read).kvs[0]?.version, 1)
  equal(proxy.connections(), 3)
})

test('a broken connection ends a watch stream once, and the next stream works', async () => {
  await using etcd = await startEtcd()
  await using proxy = await startProxy(etcd.clientUrl)
  await using client = new EtcdClient({ endpoints: [proxy.url] })
  const ends: (GrpcError | undefined)[] = []
  let created = 0
  const handler = {
    onCreated: () => {
      created++
    },
    onEvents: () => undefined,
    onCanceled: () => undefined,
  }
  client.watch.open({ onEnd: (error) => ends.push(error) }).create({ key }, handler)
  await until(() => created === 1, 'created')
  proxy.cut()
  await until(() => ends.length === 1, 'the end')
  equal(ends[0]?.code, 'Unavailable')
  client.watch.open({ onEnd: (error) => ends.push(error) }).create({ key }, handler)
  await until(() => created === 2, 'created again')
  equal(ends.length, 1)
})

test('a restart of etcd ends open streams, and later calls succeed', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await client.kv.put({ key, value })
  const ends: (GrpcError | undefined)[] = []
  client.watch
    .open({ onEnd: (error) => ends.push(error) })
    .create({ key }, { onEvents: () => undefined, onCanceled: () => undefined })
  await etcd.stop('SIGTERM')
  await until(() => ends.length === 1, 'the end of the watch')
  ok(ends[0] !== undefined)
  await etcd.start()
  equal((await client.kv.range({ key })).count, 1)
})

test('the client enforces its deadline while etcd is paused, and the outcome of the write is unknown', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await client.kv.put({ key, value })
  etcd.pause()
  const startedMs = performance.now()
  const error = await failure(client.kv.put({ key, value }, { timeoutMs: 400 }))
  const tookMs = performance.now() - startedMs
  deepEqual([error.code, error.ambiguous], ['DeadlineExceeded', true])
  ok(tookMs >= 390 && tookMs < 20_000, `${tookMs} ms`)
  etcd.resume()
  equal((await client.kv.range({ key })).count, 1)
})

test('a paused member is detected because it sends nothing, and reads and watches use another member', async () => {
  await using stopped = await startEtcd()
  await using other = await startEtcd()
  await using client = new EtcdClient({
    endpoints: [stopped.clientUrl, other.clientUrl],
    timeoutMs: 60_000,
  })
  await client.kv.put({ key, value })
  let end: { readonly error: GrpcError | undefined } | undefined
  let created = 0
  const handler = {
    onCreated: () => {
      created++
    },
    onEvents: () => undefined,
    onCanceled: () => undefined,
  }
  client.watch
    .open({
      onEnd: (error) => {
        end = { error }
      },
    })
    .create({ key }, handler)
  await until(() => created === 1, 'created')
  stopped.pause()
  const startedMs = performance.now()
  // The two endpoints are separate clusters, and only the paused one contains the key. An empty
  // response therefore comes from the other endpoint.
  equal((await client.kv.range({ key })).count, 0)
  const tookMs = performance.now() - startedMs
  ok(tookMs > 1000 && tookMs < 60_000, `${tookMs} ms`)
  await until(() => end !== undefined, 'the end of the watch')
  equal(end?.error?.code, 'Unavailable')
  client.watch.open({ away: true, onEnd: () => undefined }).create({ key }, handler)
  await until(() => created === 2, 'created elsewhere')
  const nextMs = performance.now()
  await client.kv.put({ key, value })
  ok(performance.now() - nextMs < 20_000)
  stopped.resume()
})

test('a canceled call ends immediately', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await client.kv.put({ key, value })
  etcd.pause()
  const abort = new AbortController()
  const call = failure(client.kv.range({ key }, { signal: abort.signal }))
  setTimeout(() => abort.abort(new Error('enough')), 50)
  const error = await call
  etcd.resume()
  equal(error.code, 'Cancelled')
  ok(error.cause instanceof Error && error.cause.message === 'enough')
  const early = await failure(client.kv.put({ key, value }, { signal: AbortSignal.abort() }))
  deepEqual([early.code, early.ambiguous], ['Cancelled', false])
})

test('a stream that is opened with the option `away` uses another endpoint than earlier streams', async () => {
  await using etcd = await startEtcd()
  await using one = await startProxy(etcd.clientUrl)
  await using two = await startProxy(etcd.clientUrl)
  await using client = new EtcdClient({ endpoints: [one.url, two.url] })
  let created = 0
  const handler = {
    onCreated: () => {
      created++
    },
    onEvents: () => undefined,
    onCanceled: () => undefined,
  }
  const open = (away: boolean): void => {
    client.watch.open({ away, onEnd: () => undefined }).create({ key }, handler)
  }
  open(false)
  await until(() => created === 1, 'first')
  open(false)
  await until(() => created === 2, 'second')
  deepEqual([one.connections(), two.connections()], [1, 0])
  open(true)
  await until(() => created === 3, 'third')
  deepEqual([one.connections(), two.connections()], [1, 1])
})

test('a closed client rejects new calls, and ends running calls and streams', async () => {
  await using etcd = await startEtcd()
  const client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await client.kv.put({ key, value })
  const ends: unknown[] = []
  client.watch.open({ onEnd: (error) => ends.push(error) })
  await sleep(50)
  const running = failure(client.kv.put({ key, value }))
  await client[Symbol.asyncDispose]()
  equal((await running).ambiguous, true)
  await until(() => ends.length === 1, 'the end of the stream')
  equal((await failure(client.kv.range({ key }))).code, 'Cancelled')
})
