import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn } from '../../../../test/support/harness/memory-control-plane.ts'
import { Item } from '../../../storage/cache/item.ts'
import { table } from './table.ts'

const fail = () => assert.fail()

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }

function largeItem(revision: number, decode: () => typeof pod): Item {
  const home = {
    codec: { decode, print: fail },
    put: fail,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const item = new Item(home, { key: `/r/${revision}`, revision, createRevision: 1 })
  item.length = 100_000
  return item
}

function podTable(rowOfItem: (item: Item) => Buffer[], signal: AbortSignal) {
  return table({
    kind: builtIn('pods').table,
    as: { kind: 'Table', version: 'v1' },
    form: { type: 'json', isIndented: false },
    rowsOfItems: () => rowOfItem,
    rowOfObject: fail,
    nowMs: () => 0,
    context: { signal },
  })
}

test('rows of large objects are not generated for a client that has disconnected', async () => {
  const client = new AbortController()
  let decoded = 0
  const decode = () => {
    decoded++
    client.abort()
    return pod
  }
  const shown = podTable(() => [Buffer.from('{}')], client.signal)
  const items = [largeItem(1, decode), largeItem(2, decode)]
  await assert.rejects(async () => shown.list(items, {}), /the request was cancelled/)
  assert.equal(decoded, 1)
})

test('rows of large objects are generated one at a time, across all requests', async () => {
  const { signal } = new AbortController()
  const steps: string[] = []
  const list = async (name: string): Promise<void> => {
    const decode = () => {
      steps.push(`decode ${name}`)
      return pod
    }
    const row = () => {
      steps.push(`row ${name}`)
      return [Buffer.from('{}')]
    }
    await podTable(row, signal).list([largeItem(1, decode)], {})
  }
  await Promise.all([list('a'), list('b')])
  const [first, second] = ['decode b', 'row a'].map((step) => steps.indexOf(step))
  assert.ok((first ?? 0) > (second ?? 0), steps.join())
})
