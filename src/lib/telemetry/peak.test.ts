import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Peak } from './peak.ts'

test('Peak returns the highest value of at least the last second', () => {
  const peak = new Peak()
  for (let at = 0; at < 3; at++) peak.add(1, 100)
  for (let at = 0; at < 2; at++) peak.add(-1, 200)
  assert.equal(peak.at(900), 3)
  assert.equal(peak.at(1500), 3)
  assert.equal(peak.at(2100), 1)
  peak.add(-1, 2200)
  assert.equal(peak.at(60_000), 0)
})
