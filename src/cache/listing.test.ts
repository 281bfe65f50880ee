import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedEngine } from '../../test/harness/scripted-engine.ts'
import { systemClock } from '../lib/clock.ts'
import { silent } from '../lib/log.ts'
import { Slices } from '../lib/slices.ts'
import { systemTime, type Time } from '../lib/timers.ts'
import { rangeOf } from '../storage/keys.ts'
import { Leases } from '../storage/leases.ts'
import { Store } from '../storage/store.ts'
import { identity } from '../storage/transform.ts'
import { Cache } from './cache.ts'
import { form, root } from '../../test/harness/plain-cache.ts'

const OBJECTS = 400

test('a resource comes into memory in time beside many long lists', async () => {
  let nowMs = 0
  let due: (() => void)[] = []
  // Each look at the clock takes a quarter of a slice.
  const time: Time = { ...systemTime, monotonicMs: () => (nowMs += 0.25), soon: (run) => void due.push(run) }
  const nextTurn = async (): Promise<void> => {
    const now = due
    due = []
    for (const run of now) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  let isListing = true
  const lists = Array.from({ length: 40 }, async () => {
    for (const slices = new Slices(time); isListing; ) await slices.turn()
  })
  const engine = new ScriptedEngine()
  const range = rangeOf(`${root}plain/`)
  for (let at = 0; at < OBJECTS; at++) engine.put(`${range.from}${at}`, 'x')
  const { monotonicMs, soon } = time
  const leases = new Leases(engine.grantLease, systemClock)
  const store = new Store(engine, { transformer: identity, leases, timers: time, monotonicMs })
  const clock = { ...systemClock, monotonicMs }
  await using cache = new Cache({
    engine,
    store,
    transformer: identity,
    root,
    clock,
    timers: { ...systemTime, soon },
    log: silent,
  })
  await cache.start()
  const reader = cache.resource({ name: 'plain', prefix: range.from, ...form })
  const read = reader.get(`${range.from}0`, 'any')
  let isRead = false
  void read.then(() => (isRead = true))
  let turns = 0
  for (; !isRead; turns++) await nextTurn()
  isListing = false
  while (due.length > 0) await nextTurn()
  await Promise.all(lists)
  // Both the values and the objects take a slice for some five of them.
  assert.ok(turns <= OBJECTS, `${turns} turns`)
})
