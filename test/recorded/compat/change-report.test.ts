import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatChanges } from './change-report.ts'

void test('the report of changes lists each changed field once, and begins with the most frequently changed field', () => {
  const base = [{ body: { a: null, list: [1, 2] } }]
  const removed = { at: '/0/body/a' }
  const changed = [
    { id: 'one', base, changes: [removed] },
    { id: 'two', base, changes: [removed] },
    { id: 'three', base, changes: [{ at: '/0/body/a', value: 'x' }] },
    { id: 'four', base, changes: [{ at: '/0/body/list', index: 1, remove: 1, insert: [7, 8] }] },
  ]
  assert.equal(
    formatChanges(changed),
    [
      '- `body.a`: 3 scenarios',
      '  - 2, one: null → absent',
      '  - 1, three: null → "x"',
      '- `body.list`: 1 scenarios',
      '  - 1, four: [2] → [7,8]',
    ].join('\n'),
  )
})

void test('if the status of a response changes, the report of changes omits the other changes of this response', () => {
  const base = [
    { status: 200, body: { a: 1 } },
    { status: 422, body: { message: 'old', details: {} } },
  ]
  const changes = [
    { at: '/0/status', value: 404 },
    { at: '/0/body/a' },
    { at: '/1/body/message', value: 'new' },
    { at: '/1/body/details/causes', value: ['new'] },
  ]
  assert.equal(
    formatChanges([{ id: 'one', base, changes }]),
    [
      '- `status`: 1 scenarios',
      '  - 1, one: 200 → 404',
      '- `body.details.causes`: 1 scenarios',
      '  - 1, one: absent → ["new"]',
    ].join('\n'),
  )
})
