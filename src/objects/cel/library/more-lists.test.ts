import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../compile.ts'
import { withVariables } from '../environment.ts'
import { valueOf } from '../json-values.ts'
import { kubernetesEnvironment, storedVersion } from '../kubernetes.ts'
import { atOnce } from '../turns.ts'
import type { Type } from '../types.ts'

const self: Type = { kind: 'list', element: { kind: 'string', sizeMax: 20 }, sizeMax: 100 }
const COST_MAX = 1_000_000

function compiled(text: string, release = 34) {
  const environment = withVariables(kubernetesEnvironment(storedVersion(release)), { self })
  return compile(text, environment)
}

/** Returns the result of an expression as text, or its error. */
function evaluated(text: string, release?: number): string {
  const result = compiled(text, release)
  if (!('program' in result)) return result.fault
  const variables = { self: valueOf(['b', 'a', 'c', 'a'], self) }
  const outcome = atOnce((slice) => result.program.inTurns(variables, COST_MAX, slice))
  return 'error' in outcome ? outcome.error : JSON.stringify(outcome.value)
}

for (const text of [
  '[1, 2, 3, 4].slice(1, 3) == [2, 3]',
  '[[1, 2], [3]].flatten() == [1, 2, 3]',
  '[[[1], [2]], [[3]]].flatten(2) == [1, 2, 3]',
  'self.flatten(1) == self',
  "self.sort() == ['a', 'a', 'b', 'c']",
  "self.sortBy(item, item == 'c' ? '' : item) == ['c', 'a', 'a', 'b']",
  '[3, -4].sortBy(item, -item) == [3, -4]',
  'lists.range(3) == [0, 1, 2]',
  'lists.range(-1) == []',
  "self.reverse() == ['a', 'c', 'a', 'b']",
  "self.distinct() == ['b', 'a', 'c']",
  'lists.range(100).map(x, x * x).sort().reverse()[0] == 9801',
])
  test(`in 1.34, this expression is true: ${text}`, () => assert.equal(evaluated(text), 'true'))

for (const [text, error] of [
  ['[1, 2].slice(-1, 1)', 'cannot slice(-1, 1), negative indexes not supported'],
  ['[1, 2].slice(2, 1)', 'cannot slice(2, 1), start index must be less than or equal to end index'],
  ['[1, 2].slice(0, 3)', 'cannot slice(0, 3), list is length 2'],
  ['[[1]].flatten(-1)', 'level must be non-negative'],
  ["[dyn(1), dyn('a')].sort()", 'list elements must have the same type'],
  ['dyn([[2], [1]]).sort()', 'list elements must be comparable'],
  ['dyn(1).reverse()', 'no such overload'],
  ['lists.range(20000000)', 'operation cancelled: actual cost limit exceeded'],
] as const)
  test(`${text} fails with the error: ${error}`, () => assert.equal(evaluated(text), error))

for (const [text, max] of [
  ['self.slice(0, 2)', 14],
  ['self.reverse()', 112],
  ['self.distinct()', 20_012],
  ['self.sort()', 21_012],
  ['lists.range(3)', 14],
] as const)
  test(`the maximum cost of ${text} is ${max}`, () => {
    const result = compiled(text)
    assert.ok('program' in result)
    assert.equal(atOnce((slice) => result.program.estimateCost(self, slice)).max, BigInt(max))
  })

test('a list of a million items is sorted and compared without blocking the event loop', () => {
  const start = performance.now()
  for (const call of ['sort()', 'distinct()', 'reverse().distinct()'])
    assert.match(evaluated(`lists.range(1000000).${call}.size()`), /cost limit exceeded/)
  assert.ok(performance.now() - start < 2_000)
})

test('sortBy can be applied only to lists', () => {
  assert.match(evaluated('{1: 2}.sortBy(x, x)'), /sortBy can only be applied to a list/)
})

test('the list functions of CEL are not available before 1.34', () => {
  assert.match(evaluated('self.reverse()', 33), /undeclared reference to 'reverse'/)
})

test('since 1.37, includes checks whether a list contains an item, or whether a single value equals the item', () => {
  assert.equal(evaluated("self.includes('a') && !self.includes('z')", 37), 'true')
  assert.equal(evaluated("dyn('a').includes('a') && !dyn('a').includes('b')", 37), 'true')
  assert.match(evaluated("self.includes('a')", 36), /undeclared reference to 'includes'/)
})

test('since 1.37, lists.range rejects sizes that are negative or above 1,000,000', () => {
  assert.equal(evaluated('lists.range(-1)', 37), 'lists.range: size must be non-negative, got -1')
  assert.equal(
    evaluated('lists.range(1000001)', 37),
    'lists.range: size 1000001 exceeds maximum allowed (1000000)',
  )
  assert.equal(evaluated('lists.range(3) == [0, 1, 2]', 37), 'true')
})
