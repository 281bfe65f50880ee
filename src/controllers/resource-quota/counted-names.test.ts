import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CountedNames } from './counted-names.ts'

test('CountedNames lists a resource name while any quota limits it, and reports a change only for the first and the last quota', () => {
  const names = new CountedNames()
  assert.ok(names.change([], ['pods', 'secrets']))
  assert.ok(!names.change([], ['pods']))
  assert.ok(!names.change(['pods', 'secrets'], ['secrets', 'pods']))
  assert.deepEqual([...names.all()], ['pods', 'secrets'])
  assert.ok(names.change(['pods', 'secrets'], ['pods']))
  assert.deepEqual([...names.all()], ['pods'])
  assert.ok(!names.change(['pods'], []))
  assert.ok(names.change(['pods'], []))
  assert.deepEqual([...names.all()], [])
})
