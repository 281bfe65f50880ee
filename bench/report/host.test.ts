import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disturbanceOf, parseTicks } from './host.ts'

test('parseTicks sums the ticks of all processors in the first line of /proc/stat', () => {
  const stat = 'cpu  100 20 30 800 5 1 2 42 0 0\ncpu0 50 10 15 400 2 0 1 21 0 0\n'
  assert.deepEqual(parseTicks(stat), { all: 1000, busy: 150, stolen: 42 })
})

test("disturbanceOf subtracts the CPU time of the benchmark's own processes from that of all processes", () => {
  const before = { all: 1000, busy: 100, stolen: 0 }
  const after = { all: 1200, busy: 250, stolen: 4 }
  assert.deepEqual(disturbanceOf(before, after, 1.3), { stolen: 0.02, others: 0.1 })
  // The ticks in /proc/stat are coarser than the measured CPU time of our own processes. The
  // difference would be negative here, so 0 is returned.
  assert.deepEqual(disturbanceOf(before, after, 1.6), { stolen: 0.02, others: 0 })
})

test('on a system without /proc/stat, disturbances are not reported', () => {
  const none = parseTicks('')
  assert.deepEqual(disturbanceOf(none, none, 1), { stolen: 0, others: 0 })
})
