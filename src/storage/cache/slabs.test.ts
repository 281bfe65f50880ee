import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { longestTurnMs } from '../../../test/support/harness/turns.ts'
import { until } from '../../../test/support/harness/until.ts'
import { Slabs, Slot } from './slabs.ts'

test('slots keep their bytes when other slots change, and slabs take at most about twice as much memory as all slots', () => {
  const step = fc.record({
    slot: fc.nat(40),
    length: fc.oneof(fc.nat(300), fc.integer({ min: 1, max: 200_000 })),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const slabs = new Slabs()
      const slots = new Map<number, { slot: Slot; bytes: Buffer }>()
      for (const [i, { slot: n, length }] of steps.entries()) {
        const known = slots.get(n)
        if (known !== undefined && length % 5 === 0) {
          slabs.release(known.slot)
          slots.delete(n)
          continue
        }
        const slot = known?.slot ?? new Slot()
        const bytes = Buffer.alloc(length, i)
        slabs.put(slot, bytes)
        slots.set(n, { slot, bytes })
      }
      for (const { slot, bytes } of slots.values()) assert.ok(slabs.view(slot).equals(bytes))
      const live = [...slots.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)
      assert.equal(slabs.size.liveBytes, live)
      assert.ok(slabs.size.slabBytes <= 2 * live + 2 * (1 << 20))
    }),
    { numRuns: 50 },
  )
})

test('slots that are released in one tick are not moved, and other slots keep their bytes', async () => {
  const slabs = new Slabs()
  const slots = Array.from({ length: 20_000 }, () => new Slot())
  for (const [n, slot] of slots.entries()) slabs.put(slot, Buffer.alloc(500, n % 251))
  const gone = slots.filter((_, n) => n % 10 > 0)
  const before = gone.map(({ slab }) => slab)
  for (const rest of [0, 1, 2]) slabs.releaseAll(gone.filter((_, n) => n % 3 === rest))
  await until(() => slabs.size.slabBytes <= 4 << 20, 'slabs are copied out')
  assert.ok(!slabs.isReleasing)
  assert.ok(gone.every(({ slab }, n) => slab === before[n]))
  for (let n = 0; n < slots.length; n += 10)
    assert.ok(slabs.view(slots[n] ?? new Slot()).equals(Buffer.alloc(500, n % 251)))
  assert.equal(slabs.size.liveBytes, 2_000 * 500)
})

test('a few slots are released immediately, but many slots are released in several slices', async () => {
  const slabs = new Slabs()
  const slots = Array.from({ length: 400_000 }, () => new Slot())
  for (const slot of slots) slabs.put(slot, Buffer.alloc(10))
  slabs.releaseAll(slots.slice(0, 100))
  assert.equal(slabs.size.liveBytes, 10 * (slots.length - 100))
  const longestMs = await longestTurnMs(async () => {
    slabs.releaseAll(slots)
    assert.ok(slabs.isReleasing)
    await until(() => !slabs.isReleasing, 'all slots are released')
  })
  assert.equal(slabs.size.liveBytes, 0)
  assert.ok(longestMs < 50, `${longestMs} ms`)
})

test('a view of a slot remains valid after the slot was moved or released', () => {
  const slabs = new Slabs()
  const slot = new Slot()
  slabs.put(slot, Buffer.from('first'))
  const view = slabs.view(slot)
  for (let i = 0; i < 3000; i++) slabs.put(new Slot(), Buffer.alloc(1000, i))
  slabs.release(slot)
  assert.equal(view.toString(), 'first')
  assert.equal(slabs.view(slot).toString(), 'first', 'a released slot can still be read')
})
