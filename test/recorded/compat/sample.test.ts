import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseSample } from './sample.ts'
import type { FiledScenario } from './scenarios.ts'

const scenarios = Array.from({ length: 200 }, (_, index): FiledScenario => {
  return { id: `s${index}`, file: 'f', steps: [] }
})
const recordings = {
  changesOf: ({ id }: FiledScenario) => {
    if (id === 's199') return undefined
    return { id, base: [], changes: id.endsWith('7') ? [{ at: '/0/status', value: 404 }] : [] }
  },
}
const idsOf = (seed: number): readonly string[] =>
  chooseSample(scenarios, recordings, { oneOf: 10, seed }).map(({ id }) => id)

void test('a sample has all scenarios that differ from 1.33 and some of the others', () => {
  const ids = idsOf(1)
  assert.equal(ids.filter((id) => id.endsWith('7')).length, 20)
  assert.ok(ids.length > 25 && ids.length < 60, `${ids.length} scenarios`)
})

void test('a sample depends only on its seed', () => {
  assert.deepEqual(idsOf(1), idsOf(1))
  assert.notDeepEqual(idsOf(1), idsOf(2))
})

void test('a sample has no scenarios without a recording of the release', () => {
  for (let seed = 0; seed < 100; seed++) assert.ok(!idsOf(seed).includes('s199'))
})

void test('a set-up without differences is in a sample completely or not at all', () => {
  const ofSetUps = scenarios.map((scenario, index) => ({ ...scenario, needs: `${index % 20}` }))
  const sizes = Array.from({ length: 20 }, (_, seed) => {
    const chosen = chooseSample(ofSetUps, recordings, { oneOf: 10, seed })
    return Map.groupBy(chosen, ({ needs }) => needs)
  })
  // The scenarios that end with 7 are in the set-ups 7 and 17.
  for (const groups of sizes) {
    for (const [needs, { length }] of groups)
      if (needs !== '7' && needs !== '17') assert.equal(length, needs === '19' ? 9 : 10)
    assert.ok(groups.size >= 2 && groups.size < 10, `${groups.size} set-ups`)
  }
  assert.ok(new Set(sizes.map(({ size }) => size)).size > 1)
})
