import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CountedNames } from './counted-names.ts'

test('a resource name is listed while any quota limits it, and a change is reported only when the first such quota is added or the last one is removed', () => {
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
