import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../test/support/harness/turns.ts'
import { objectInSlices, objectOf } from './own-request.ts'

test('a large response to a request that the server sends to itself is parsed across several ticks of the event loop', async () => {
  const items = Array.from({ length: 5_000 }, (_, at) => ({
    metadata: { name: `n${at}`, labels: { a: 'ü"\\' } },
  }))
  const response = {
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ kind: 'List', items })),
  }
  let parsed: unknown
  const turns = await turnsDuring(async () => {
    parsed = await objectInSlices(response)
  })
  assert.equal(JSON.stringify(parsed), JSON.stringify(objectOf(response)))
  assert.ok(turns > 1, `${turns} turns`)
})
