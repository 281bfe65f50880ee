import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { builtIn } from '../../../test/support/harness/memory-control-plane.ts'
import { storedItem } from '../../../test/support/harness/stored-item.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import type { KubeObject } from '../../api/object.ts'
import { encodeStored } from '../../objects/codec/object.ts'
import type { Item } from './item.ts'

const { shape } = builtIn('services')
// The object is stored without defaults, so it must be decoded before it can be encoded for
// clients.
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n', uid: 'u' },
  spec: { ports: Array.from({ length: 30_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 })) },
}
const stored = encodeStored(object, shape)
const storedAsProtobuf = encodeStored(object, { ...shape, storedAs: 'protobuf' })

const newItem = (first = stored): Item => storedItem(first, shape)

test('preparing a large object in parts has the same result as preparing it in one step', async () => {
  const whole = newItem().wire().toString()
  const ms = await bestLongestTurnMs(async () => {
    const item = newItem()
    assert.ok(item.isUnprepared)
    await item.prepare()
    assert.ok(!item.isUnprepared)
    assert.ok(item.wire().toString() === whole)
  })
  assert.ok(ms < 50, `${ms} ms`)
})

test('`prepare` has the same result if another reader decodes the object at the same time', async () => {
  const whole = newItem().wire().toString()
  for (let turns = 1; turns < 14; turns += 3) {
    const item = newItem()
    const printing = item.prepare()
    for (let count = 0; count < turns; count++) await nextTurn()
    item.object()
    await printing
    assert.ok(item.wire().toString() === whole)
  }
})

test('decoding a large object in parts has the same result as decoding it in one step', async () => {
  const whole = newItem().object()
  assert.deepEqual(await newItem().objectInParts(), whole)
})

test('decoding in parts reads the original bytes, even if another reader replaces these bytes with the JSON for clients', async () => {
  const whole = newItem(storedAsProtobuf).object()
  for (let turns = 0; turns < 14; turns += 3) {
    const item = newItem(storedAsProtobuf)
    const decoding = item.objectInParts()
    for (let count = 0; count < turns; count++) await nextTurn()
    item.wire()
    assert.deepEqual((await decoding)['spec'], whole['spec'])
  }
})

test('concurrent readers of a large object share one decoded object', async () => {
  const item = newItem()
  const [first, second] = await Promise.all([item.peekInParts(), item.peekInParts()])
  assert.equal(first, second)
})
