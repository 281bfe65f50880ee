import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { builtIn } from '../../../test/support/harness/memory-control-plane.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import type { KubeObject } from '../../api/object.ts'
import { decodeStored, encodeStored, printWire } from '../../objects/codec/object.ts'
import { Item, type ItemHome } from './item.ts'

const { shape } = builtIn('services')
// Stored without the defaults, so that it has to be decoded before it is shown.
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n', uid: 'u' },
  spec: { ports: Array.from({ length: 30_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 })) },
}
const stored = encodeStored(object, shape)
const storedAsProtobuf = encodeStored(object, { ...shape, storedAs: 'protobuf' })

function storedItem(first = stored): Item {
  const bytes = new Map<Item, Buffer>()
  const home: ItemHome = {
    codec: {
      decode: (value, _key, revision) => decodeStored(value, shape, revision),
      print: (one) => printWire(one, shape),
    },
    put: (item, made) => {
      bytes.set(item, made)
      item.length = made.length
    },
    view: (item, start, end) => (bytes.get(item) ?? first).subarray(start, end),
    keep: () => undefined,
  }
  const item = new Item(home, { key: '/r/a', revision: 7, createRevision: 1 })
  item.length = first.length
  return item
}

test('a large object is prepared in parts, and is the same as at once', async () => {
  const whole = storedItem().wire().toString()
  const ms = await bestLongestTurnMs(async () => {
    const item = storedItem()
    assert.ok(item.isUnprepared)
    await item.prepare()
    assert.ok(!item.isUnprepared)
    assert.ok(item.wire().toString() === whole)
  })
  assert.ok(ms < 50, `${ms} ms`)
})

test('an object that is decoded by another reader while it is printed in parts is printed as at once', async () => {
  const whole = storedItem().wire().toString()
  for (let turns = 1; turns < 14; turns += 3) {
    const item = storedItem()
    const printing = item.prepare()
    for (let count = 0; count < turns; count++) await nextTurn()
    item.object()
    await printing
    assert.ok(item.wire().toString() === whole)
  }
})

test('a large object is decoded in parts, and is the same as at once', async () => {
  const whole = storedItem().object()
  assert.deepEqual(await storedItem().objectInParts(), whole)
})

test('an object that is printed while it is decoded in parts is decoded from its first bytes', async () => {
  const whole = storedItem(storedAsProtobuf).object()
  for (let turns = 0; turns < 14; turns += 3) {
    const item = storedItem(storedAsProtobuf)
    const decoding = item.objectInParts()
    for (let count = 0; count < turns; count++) await nextTurn()
    item.wire()
    assert.deepEqual((await decoding)['spec'], whole['spec'])
  }
})
