import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn } from '../../../../test/support/harness/memory-control-plane.ts'
import { Item } from '../../../storage/cache/item.ts'
import { table } from './table.ts'

const fail = () => assert.fail()

test('rows of large objects are not made for a client that is gone', async () => {
  const client = new AbortController()
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
  let decoded = 0
  const decode = () => {
    decoded++
    client.abort()
    return pod
  }
  const home = {
    codec: { decode, print: fail },
    put: fail,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const items = [1, 2].map((revision) => {
    const item = new Item(home, { key: `/r/${revision}`, revision, createRevision: 1 })
    item.length = 100_000
    return item
  })
  const shown = table({
    kind: builtIn('pods').table,
    as: { kind: 'Table', version: 'v1' },
    form: { type: 'json', isIndented: false },
    rowsOfItems: () => () => [Buffer.from('{}')],
    rowOfObject: fail,
    nowMs: () => 0,
    context: { signal: client.signal },
  })
  await assert.rejects(async () => shown.list(items, {}), /the request was cancelled/)
  assert.equal(decoded, 1)
})
