import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../lib/telemetry/metrics.ts'
import type { RangeQuery } from './engine.ts'
import { MeasuredEngine, type RequestLabels } from './measured-engine.ts'
import { MemoryEngine } from './memory/memory-engine.ts'

/** An engine whose next range can be made to wait and then fail. */
class FailingEngine extends MemoryEngine {
  failure: Promise<never> | undefined

  override range(query: RangeQuery): ReturnType<MemoryEngine['range']> {
    return this.failure ?? super.range(query)
  }
}

const byGroup: RequestLabels = {
  names: ['operation', 'type'],
  of: (path, operation) => [operation, path.split('/')[0] ?? ''],
}
const byResource: RequestLabels = {
  names: ['group', 'operation', 'resource'],
  of: (path, operation) => [path.split('/')[0] ?? '', operation, path.split('/')[1] ?? ''],
}

const [things, others] = ['/registry/example.com/things/', '/registry/example.com/others/']

function setUp(requestLabels: RequestLabels): {
  readonly engine: MeasuredEngine
  readonly inner: FailingEngine
  readonly served: Set<string>
  readonly list: (prefix: string) => Promise<unknown>
  readonly counts: () => readonly string[]
} {
  const metrics = new Metrics()
  const inner = new FailingEngine()
  const options = { root: '/registry/', metrics, requestLabels, monotonicMs: () => 0 }
  const engine = new MeasuredEngine(inner, options)
  const served = new Set([things, others])
  engine.measureOnly((path) => served.has(`/registry/${path}`))
  return {
    engine,
    inner,
    served,
    list: (prefix) => engine.range({ from: prefix, to: `${prefix}\u00ff` }),
    counts: () => metrics.print().match(/^etcd_request\w+_(?:total|count)\{.*/gm) ?? [],
  }
}

test('a late request of a removed resource adds no metrics, and requests are counted again as soon as it is served again', async () => {
  const { engine, served, list, counts } = setUp(byResource)
  await using _ = engine
  await list(things)
  const counted = counts()
  assert.equal(counted.length, 2)
  served.delete(things)
  engine.forget(things, [])
  await list(things)
  assert.deepEqual(counts(), [])
  served.add(things)
  await list(things)
  assert.deepEqual(counts(), counted)
})

test('a request that fails after the removal of its resource adds no metrics', async () => {
  const { engine, inner, served, list, counts } = setUp(byResource)
  await using _ = engine
  const { promise, reject } = Promise.withResolvers<never>()
  inner.failure = promise
  const listing = list(things)
  served.delete(things)
  engine.forget(things, [])
  reject(new Error('no connection'))
  await assert.rejects(listing, /no connection/)
  assert.deepEqual(counts(), [])
})

test('the metrics of a removed resource are removed while its group has another resource', async () => {
  const { engine, served, list, counts } = setUp(byResource)
  await using _ = engine
  await list(things)
  await list(others)
  served.delete(things)
  engine.forget(things, [others])
  assert.deepEqual(
    counts().map((line) => /resource="(\w+)"/.exec(line)?.[1]),
    ['others', 'others'],
  )
})

test('metrics that count a whole group remain until its last resource is removed', async () => {
  const { engine, served, list, counts } = setUp(byGroup)
  await using _ = engine
  await list(things)
  served.delete(things)
  engine.forget(things, [others])
  assert.equal(counts().length, 2)
  served.delete(others)
  engine.forget(others, [])
  assert.deepEqual(counts(), [])
})
