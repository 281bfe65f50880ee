import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leases } from '../storage/leases.ts'
import { MemoryEngine } from '../storage/memory/memory-engine.ts'
import { Store } from '../storage/store.ts'
import { identity } from '../storage/transform.ts'
import { RangeRecord } from './range-record.ts'

const key = '/registry/ranges/servicenodeports'
const range = { first: 30000, last: 30015 }

function recordOn(engine: MemoryEngine, life: () => number): RangeRecord {
  const leases = new Leases((ttl, call) => engine.grantLease(ttl, call))
  const store = new Store(engine, { transformer: identity, leases })
  return new RangeRecord({ store, key, range, text: '30000-30015', adopt: () => 0n, random: () => 0, life })
}

test('after a restore nothing is decided on what was written before, whatever its revision', async () => {
  await using engine = new MemoryEngine()
  let life = 0
  const mine = recordOn(engine, () => life)
  const others = recordOn(engine, () => life)
  const backup = engine.snapshot()
  await mine.change((set) => set.take(30001))
  const { revision } = engine.stats()
  engine.restore(backup)
  life++
  await others.change((set) => set.take(30002))
  assert.equal(engine.stats().revision, revision, 'the record has the same revision again')
  await mine.change((set) => set.take(30003))
  assert.deepEqual(await others.attempt((set) => set.list()), [30002, 30003])
})
