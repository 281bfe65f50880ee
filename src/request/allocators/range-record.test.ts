import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leases } from '../../storage/leases.ts'
import { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { Store } from '../../storage/store.ts'
import { identity } from '../../storage/transform.ts'
import type { NumberRange } from './number-set.ts'
import { RangeRecord } from './range-record.ts'

const key = '/registry/ranges/servicenodeports'
const adopt = (): Buffer => Buffer.alloc(0)
const ports = { first: 30000, last: 30015 }

function recordOn(
  engine: MemoryEngine,
  life: () => number,
  range: NumberRange = ports,
): RangeRecord {
  const leases = new Leases((ttl, call) => engine.grantLease(ttl, call))
  const store = new Store(engine, { transformer: identity, leases })
  return new RangeRecord({ store, key, range, text: '30000-30015', adopt, random: () => 0, life })
}

test('after a restore of the database, an allocation record is read again even if it has the same revision as before', async () => {
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

test('other tasks run while many changes are applied to a large number set', async () => {
  await using engine = new MemoryEngine()
  const record = recordOn(engine, () => 0, { first: 0, last: (1 << 20) - 3 })
  let turns = 0
  let turnsMet = 0
  const others = setInterval(() => turns++, 0)
  const slowly = (): void => {
    turnsMet = turns
    const until = performance.now() + 5
    while (performance.now() < until);
  }
  const first = record.change(slowly)
  await Promise.all([first, ...Array.from({ length: 20 }, () => record.change(slowly))])
  clearInterval(others)
  assert.ok(turnsMet > 1, `${turnsMet} turns`)
})

test('a failed change of an allocation record does not affect the other changes that are written together with it', async () => {
  await using engine = new MemoryEngine()
  const record = recordOn(engine, () => 0)
  const [, twice] = await Promise.allSettled(
    [30001, 30001, 30002].map((port) => record.change((set) => set.take(port))),
  )
  assert.equal(twice?.status, 'rejected')
  assert.deepEqual(await record.attempt((set) => set.list()), [30001, 30002])
})
