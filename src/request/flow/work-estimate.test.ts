import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceInfo } from '../../api/context.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Work } from './flow-request.ts'
import { FlowMetrics } from './metrics.ts'
import { WatchCounts } from './watch-counts.ts'
import { estimateWork } from './work-estimate.ts'

const info: ResourceInfo = {
  kind: 'resource',
  verb: 'list',
  group: '',
  version: 'v1',
  plural: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: '',
  segments: [],
  isWatchPath: false,
}

type EstimateCase = Partial<ResourceInfo> & {
  readonly query?: string
  readonly stored?: number | undefined
  readonly seatsMax?: number
  readonly watches?: WatchCounts
  readonly bodyBytes?: number
  readonly countsInitialObjects?: boolean
}

function estimated(given: EstimateCase): Work {
  const {
    query = '',
    stored = 950,
    seatsMax = 10,
    watches = new WatchCounts(),
    bodyBytes = 0,
    countsInitialObjects = false,
    ...more
  } = given
  const series = new FlowMetrics(new Metrics(), 0).flows.series('schema', 'level')
  const asked = {
    info: { ...info, ...more },
    query: new URLSearchParams(query),
    seatsMax,
    bodyBytes,
    series,
  }
  return estimateWork({ countObjects: () => stored, watches, countsInitialObjects }, asked)
}

const seatsOf = (asked: EstimateCase): number => estimated(asked).initialSeats

test('a list takes one seat for each hundred objects that it reads', () => {
  assert.equal(seatsOf({}), 10)
  assert.equal(seatsOf({ stored: 101 }), 2)
  assert.equal(seatsOf({ stored: 0 }), 1)
  assert.equal(seatsOf({ stored: 1_000_000 }), 10)
  assert.equal(seatsOf({ seatsMax: 3 }), 3, 'its level allows no more')
  assert.equal(seatsOf({ stored: Infinity }), 10, 'it does not fit into the cache')
  assert.equal(seatsOf({ name: 'one' }), 1, 'a lookup')
  assert.equal(
    seatsOf({ query: 'limit=100&resourceVersion=5' }),
    2,
    'a page is read from the store and returned',
  )
  assert.equal(seatsOf({ query: 'limit=100' }), 10, 'from the cache')
})

test('a streaming list takes as many seats as a list, and other watches take one seat', () => {
  assert.equal(seatsOf({ verb: 'watch', query: 'watch=1&sendInitialEvents=true' }), 10)
  assert.equal(seatsOf({ verb: 'watch', query: 'watch=1&sendInitialEvents=1', stored: 250 }), 3)
  assert.equal(seatsOf({ verb: 'watch', query: 'watch=1&sendInitialEvents=false' }), 1)
  assert.equal(seatsOf({ verb: 'watch', query: 'watch=1' }), 1)
})

test('a watch that begins with the existing objects takes as many seats as a list if these objects count', () => {
  const watch = { verb: 'watch', countsInitialObjects: true }
  assert.equal(seatsOf({ ...watch, query: 'watch=1' }), 10)
  assert.equal(seatsOf({ ...watch, query: 'watch=1&resourceVersion=0' }), 10)
  assert.equal(seatsOf({ ...watch, query: 'watch=1&resourceVersion=5' }), 1)
})

test('a write occupies seats while it notifies watches, and a deletecollection occupies one seat', () => {
  const watches = new WatchCounts()
  for (let at = 0; at < 50; at++) watches.add({ ...info, verb: 'watch' }, new URLSearchParams())
  assert.deepEqual(estimated({ verb: 'create', watches }), {
    initialSeats: 1,
    finalSeats: 5,
    lingerMs: 5,
  })
  assert.deepEqual(estimated({ verb: 'create', watches, seatsMax: 2 }), {
    initialSeats: 1,
    finalSeats: 2,
    lingerMs: 12.5,
  })
  assert.equal(estimated({ verb: 'create' }).finalSeats, 0)
  assert.deepEqual(estimated({ verb: 'deletecollection', watches }), {
    initialSeats: 1,
    finalSeats: 0,
    lingerMs: 0,
  })
})

test('a write takes one seat for every 256 KB that it sends, but at least one seat', () => {
  assert.equal(seatsOf({ verb: 'create', bodyBytes: 250_000 }), 1)
  assert.equal(seatsOf({ verb: 'patch', name: 'a', bodyBytes: 300_000 }), 2)
  assert.equal(seatsOf({ verb: 'update', name: 'a', bodyBytes: 3 << 20 }), 10)
  const watches = new WatchCounts()
  for (let at = 0; at < 50; at++) watches.add({ ...info, verb: 'watch' }, new URLSearchParams())
  const { initialSeats, finalSeats } = estimated({ verb: 'create', bodyBytes: 1 << 20, watches })
  assert.deepEqual([initialSeats, finalSeats], [4, 5])
})
