import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leases } from './leases.ts'

function fixture() {
  const time = { ms: 0 }
  const granted: number[] = []
  const faults: Error[] = []
  const grant = async (ttlSeconds: number) => {
    const fault = faults.shift()
    if (fault) throw fault
    granted.push(ttlSeconds)
    return BigInt(granted.length)
  }
  const leases = new Leases(grant, { wallMs: () => 0, monotonicMs: () => time.ms })
  return { time, granted, faults, leases }
}

test('a lease is granted for longer than requested, and is shared until the additional time is used up', async () => {
  const { time, granted, leases } = fixture()
  assert.equal(await leases.get(3600), 1n)
  time.ms = 59_999
  assert.equal(await leases.get(3600), 1n)
  time.ms = 60_000
  assert.equal(await leases.get(3600), 2n)
  assert.deepEqual(granted, [3660, 3660])
})

test('leases with a short time to live get no additional time and are not shared', async () => {
  const { granted, leases } = fixture()
  assert.notEqual(await leases.get(15), await leases.get(15))
  assert.deepEqual(granted, [15, 15])
})

test('a time to live that is neither very short nor very long is extended by 5 percent', async () => {
  const { granted, leases } = fixture()
  await leases.get(100)
  await leases.get(1199)
  assert.deepEqual(granted, [105, 1258])
})

test('at most 1,000 objects share a lease, and each time to live has a separate lease', async () => {
  const { granted, leases } = fixture()
  for (let i = 0; i < 1000; i++) {
    assert.equal(await leases.get(3600), 1n)
    if (i === 500) await leases.get(7200)
  }
  assert.equal(await leases.get(3600), 3n)
  assert.deepEqual(granted, [3660, 7260, 3660])
})

test('if the grant of a lease fails, the failure is not cached, and concurrent callers share one grant', async () => {
  const { granted, faults, leases } = fixture()
  faults.push(new Error('down'))
  const both = await Promise.allSettled([leases.get(3600), leases.get(3600)])
  assert.deepEqual(
    both.map((result) => result.status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(await Promise.all([leases.get(3600), leases.get(3600)]), [1n, 1n])
  assert.equal(granted.length, 1)
})

test('a lease that the database has lost is replaced', async () => {
  const { leases } = fixture()
  const lost = await leases.get(3600)
  await leases.forget(lost)
  assert.notEqual(await leases.get(3600), lost)
})

test('when a lease is replaced, the number of objects that were attached to it is reported', async () => {
  const replaced: number[] = []
  const time = { ms: 0 }
  const clock = { wallMs: () => 0, monotonicMs: () => time.ms }
  const onReplaced = (objects: number) => void replaced.push(objects)
  const leases = new Leases(() => Promise.resolve(1n), clock, { surplusSecondsMax: 10, onReplaced })
  for (let n = 0; n < 5; n++) await leases.get(3600)
  time.ms = 10_000
  await leases.get(3600)
  assert.deepEqual(replaced, [1, 6])
})
