import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CountedNames } from './counted-names.ts'

test('a resource name is listed while any quota limits it, and only its first addition and last removal count as changes', () => {
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
