import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWhyQuery } from './why-query.ts'

test('the user of a query has each of its groups once', () => {
  const query = new URLSearchParams('user=u&verb=get&resource=pods&group=b&group=a&group=b')
  assert.deepEqual(readWhyQuery(query, () => '').user, { name: 'u', uid: '', groups: ['b', 'a'] })
})
