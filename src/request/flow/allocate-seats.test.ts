import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateSeats } from './allocate-seats.ts'

const close = (one: number | undefined, other: number): void =>
  assert.ok(Math.abs((one ?? Number.NaN) - other) < 1e-6, `${one} is not ${other}`)

test('if no minimum or maximum takes effect, each priority level gets seats in proportion to its target number', () => {
  const found = allocateSeats(30, [
    { target: 10, min: 0, max: 100 },
    { target: 5, min: 0, max: 100 },
  ])
  close(found?.fairFraction, 2)
  close(found?.seats[0], 20)
  close(found?.seats[1], 10)
})

test('priority levels get at least their minimum and at most their maximum number of seats, and others share the rest', () => {
  const found = allocateSeats(30, [
    { target: 10, min: 0, max: 12 },
    { target: 5, min: 0, max: 100 },
    { target: 3, min: 3, max: 3 },
  ])
  assert.deepEqual([found?.seats[0], found?.seats[2]], [12, 3])
  close(found?.seats[1], 15)
  const low = allocateSeats(20, [
    { target: 30, min: 15, max: 100 },
    { target: 30, min: 0, max: 100 },
  ])
  close(low?.seats[0], 15)
  close(low?.seats[1], 5)
})

test('a priority level with a target of zero seats still gets some of the remaining seats', () => {
  const found = allocateSeats(10, [
    { target: 0, min: 0, max: 100 },
    { target: 0, min: 0, max: 100 },
  ])
  close(found?.seats[0], 5)
})

test('no allocation of seats is returned if the minimums and maximums of the priority levels cannot be satisfied', () => {
  assert.equal(allocateSeats(10, [{ target: 20, min: 11, max: 30 }]), undefined)
  assert.equal(allocateSeats(10, [{ target: 1, min: 0, max: 9 }]), undefined)
  assert.deepEqual(allocateSeats(10, [{ target: 10, min: 10, max: 30 }])?.seats, [10])
  assert.deepEqual(allocateSeats(10, [{ target: 10, min: 1, max: 10 }])?.seats, [10])
})

test('all seats are allocated, between the minimum and the maximum of each priority level', () => {
  let state = 7
  const random = (): number => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff
  for (let round = 0; round < 500; round++) {
    const wants = Array.from({ length: 1 + Math.floor(random() * 9) }, () => {
      const min = Math.floor(random() * 50)
      return { min, max: min + Math.floor(random() * 400), target: min + random() * 200 }
    })
    const lowest = wants.reduce((sum, { min }) => sum + min, 0)
    const highest = wants.reduce((sum, { max }) => sum + max, 0)
    const total = lowest + random() * (highest - lowest)
    const found = allocateSeats(total, wants)
    assert.ok(found !== undefined)
    const given = found.seats.reduce((sum, seats) => sum + seats, 0)
    assert.ok(Math.abs(given - total) < 1e-3, `${given} of ${total}`)
    wants.forEach(({ min, max }, at) =>
      assert.ok((found.seats[at] ?? -1) >= min && (found.seats[at] ?? Infinity) <= max),
    )
  }
})
