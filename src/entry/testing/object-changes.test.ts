import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGES_MAX, changesBetween, withoutSecrets } from './object-changes.ts'

const cases: readonly (readonly [string, object, object, readonly unknown[]])[] = [
  ['equal objects have no changes', { a: { b: [1] } }, { a: { b: [1] } }, []],
  ['a value', { spec: { a: 1 } }, { spec: { a: 2 } }, [['.spec.a', 1, 2]]],
  [
    'a part that is added or removed is one change',
    { old: { a: 1, b: 2 } },
    { now: [1, 2] },
    [
      ['.old', { a: 1, b: 2 }, undefined],
      ['.now', undefined, [1, 2]],
    ],
  ],
  [
    'items with names',
    { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] },
    { containers: [{ name: 'b' }, { name: 'a', image: 'y' }] },
    [['.containers[name="a"].image', 'x', 'y']],
  ],
  [
    'conditions',
    { conditions: [{ type: 'Ready', status: 'False' }] },
    { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Done' }] },
    [
      ['.conditions[type="Ready"].status', 'False', 'True'],
      ['.conditions[type="Done"]', undefined, { type: 'Done' }],
    ],
  ],
  [
    'items without a unique key, by their index',
    { list: [{ name: 'a' }, { name: 'a' }] },
    { list: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    [
      ['.list[1].name', 'a', 'b'],
      ['.list[2]', undefined, { name: 'c' }],
    ],
  ],
  [
    'fields that the server changes in each write are left out',
    { metadata: { managedFields: [1], resourceVersion: '1', generation: 1, labels: { a: '1' } } },
    { metadata: { managedFields: [2], resourceVersion: '2', generation: 2 } },
    [['.metadata.labels', { a: '1' }, undefined]],
  ],
]

for (const [name, before, after, expected] of cases) {
  test(`changesBetween compares objects: ${name}`, () => {
    const changes = changesBetween(before, after)
    assert.deepEqual(
      changes.map((change) => [change.path, change.before, change.after]),
      expected,
    )
  })
}

test('the number of reported changes of an object is limited', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]))
  assert.equal(changesBetween({ data: {} }, { data: many }).length, CHANGES_MAX)
})

test('changesBetween compares objects of any depth', () => {
  const nested = (depth: number, value: number): object =>
    depth === 0 ? { value } : { a: nested(depth - 1, value) }
  assert.equal(changesBetween(nested(1000, 1), nested(1000, 2)).length, 1)
})

test('the recorded changes of a Secret hide all values except those of metadata, and also hide annotations', () => {
  const before = { metadata: { labels: { a: '1' } }, data: { password: 'b2xk' }, type: 'Opaque' }
  const after = {
    metadata: { labels: { a: '2' }, annotations: { applied: 'bmV3' } },
    data: { password: 'bmV3', token: 'bmV3' },
    type: 'Opaque',
  }
  assert.deepEqual(withoutSecrets(changesBetween(before, after)), [
    { path: '.metadata.labels.a', before: '1', after: '2' },
    { path: '.metadata.annotations', before: undefined, after: '(hidden)' },
    { path: '.data.password', before: '(hidden)', after: '(hidden)' },
    { path: '.data.token', before: undefined, after: '(hidden)' },
  ])
})
