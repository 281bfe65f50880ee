import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedEngine } from '../../../test/support/harness/scripted-engine.ts'
import { BusyLoop } from '../../../test/support/harness/turns.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { rangeOf } from '../keys.ts'
import { Leases } from '../leases.ts'
import { Store } from '../store.ts'
import { identity } from '../transform.ts'
import { Cache } from './cache.ts'
import { form, root } from '../../../test/support/harness/plain-cache.ts'

const OBJECTS = 400

test('a resource is loaded without long delays while many long lists run', async () => {
  await using loop = new BusyLoop()
  const engine = new ScriptedEngine()
  const range = rangeOf(`${root}plain/`)
  for (let at = 0; at < OBJECTS; at++) engine.put(`${range.from}${at}`, 'x')
  const { time } = loop
  const { monotonicMs, defer } = time
  const leases = new Leases(engine.grantLease, systemClock)
  const store = new Store(engine, { transformer: identity, leases, timers: time, monotonicMs })
  const clock = { ...systemClock, monotonicMs }
  await using cache = new Cache({
    engine,
    store,
    transformer: identity,
    root,
    clock,
    timers: { ...systemTime, defer },
    log: silent,
  })
  await cache.start()
  const reader = cache.resource({ name: 'plain', prefix: range.from, ...form })
  const read = reader.get(`${range.from}0`, 'any')
  let isRead = false
  void read.then(() => (isRead = true))
  const turns = await loop.turnsUntil(() => isRead)
  // Reading the values takes about one time slice for every five objects. Creating the items takes
  // as long.
  assert.ok(turns <= OBJECTS, `${turns} turns`)
})
