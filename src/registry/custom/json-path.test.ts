import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathBudget, readJsonPath } from './json-path.ts'

const object = {
  spec: {
    list: ['a', 'b', 'c'],
    pairs: [
      { k: 'p', v: 1 },
      { k: 'q', v: 2 },
    ],
    'dot.ted': 'dot',
    none: null,
  },
}

const cases: readonly (readonly [string, readonly unknown[]])[] = [
  ['.spec.list[0]', ['a']],
  ['.spec.list[-1]', ['c']],
  ['.spec.list[0:2]', ['a', 'b']],
  ['.spec.list[*]', ['a', 'b', 'c']],
  ['.spec.list[9]', []],
  ['.spec.pairs[?(@.k=="q")].v', [2]],
  ['.spec.pairs[?(@.v>1)].k', ['q']],
  ['.spec.pairs[*].k', ['p', 'q']],
  ['..k', ['p', 'q']],
  ['.spec.dot\\.ted', ['dot']],
  [".spec['dot.ted']", []],
  [".spec['none']", [null]],
  ['.spec.missing.deeper', []],
  ['.constructor', []],
  ['.', []],
]

for (const [path, values] of cases) {
  test(`the JSON path ${path} finds ${JSON.stringify(values)}`, () => {
    assert.deepEqual([...(readJsonPath(path)?.(object) ?? [])], values)
  })
}

test('readJsonPath rejects an invalid path', () => {
  for (const path of ['.spec[', '.spec[?(@.a', '.spec]', '.a'.repeat(200)])
    assert.equal(readJsonPath(path), undefined)
})

test('all JSON paths of an object share one limit on the number of visited values', () => {
  const list = Array.from({ length: 100_000 }, () => ({ a: [{ a: {} }] }))
  const paths = ['..a'.repeat(50), '.*[*].*'.repeat(30), '[*]'.repeat(90), '[?(@.a)]'.repeat(90)]
  const budget = pathBudget()
  const since = process.threadCpuUsage()
  for (const path of [...paths, ...paths, ...paths, ...paths])
    for (const _ of readJsonPath(path)?.({ list }, budget) ?? []);
  const { user, system } = process.threadCpuUsage(since)
  assert.equal(budget.left, 0)
  assert.ok(user + system < 200_000, `${(user + system) / 1000} ms of CPU`)
})

test('finding the first value of a JSON path does not visit other values', () => {
  const budget = pathBudget()
  const before = budget.left
  const list = Array.from({ length: 1000 }, (_, at) => ({ at }))
  const [first] = readJsonPath('.list[*].at')?.({ list }, budget) ?? []
  assert.equal(first, 0)
  assert.ok(before - budget.left < 10, `${before - budget.left} values`)
})
