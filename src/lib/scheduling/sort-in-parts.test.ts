import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { parts } from './parts.ts'
import { sortInParts } from './sort-in-parts.ts'

type Item = { readonly key: number; readonly at: number }

const compare = (one: Item, other: Item): number => one.key - other.key

test('sorting in parts has the same result as sorting in one step, and equal items keep their order', () => {
  const always = { isOver: true, begin: (): void => undefined, stepsPerLook: 1 }
  for (const length of [0, 1, 512, 513, 1024, 1025, 1536, 5000, 20_000]) {
    const items = Array.from({ length }, (_, at) => ({ key: (at * 7919) % 997, at }))
    const expected = items.toSorted(compare)
    assert.deepEqual(sortInParts('test', items, compare), expected)
    assert.deepEqual(
      allSteps(parts(() => sortInParts('test', items, compare), always)),
      expected,
      String(length),
    )
  }
})
