import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Item, type ItemHome } from '../../../storage/cache/item.ts'
import { EvictionQueue } from '../../../storage/cache/eviction-queue.ts'
import { Slabs } from '../../../storage/cache/slabs.ts'
import { printWire } from '../../../objects/codec/object.ts'
import { Transcoder } from '../../../objects/codec/protobuf/transcode.ts'
import { builtInResources } from '../../../registry/built-in.ts'
import { ResourceForms } from './forms.ts'
import { WrittenMessages } from './written-messages.ts'

const lease = {
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'a', namespace: 'b', resourceVersion: '7', labels: { x: 'y' } },
  spec: { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
}

function harness(): { forms: ResourceForms; itemOf: (object?: typeof lease) => Item } {
  const resource = builtInResources().find(({ plural }) => plural === 'leases')
  assert.ok(resource !== undefined)
  const slabs = new Slabs()
  const home: ItemHome = {
    codec: { decode: () => lease, print: (object) => printWire(object, resource.shape) },
    put: (slot, bytes, facts) => slabs.put(slot, bytes, facts),
    view: (slot, start, end) => slabs.view(slot, start, end),
    keep: () => undefined,
  }
  const memos = { queue: new EvictionQueue(1 << 20), slabs: new Slabs() }
  const forms = new ResourceForms(resource, {
    memos,
    transcoder: new Transcoder(),
    written: new WrittenMessages(),
    nowMs: () => 0,
  })
  const itemOf = (object?: typeof lease): Item => {
    const item = new Item(home, { key: '/b/a', revision: 7, createRevision: 1 })
    if (object === undefined) item.setBytes(lease, printWire(lease, resource.shape))
    else item.setWire(object, printWire(object, resource.shape))
    return item
  }
  return { forms, itemOf }
}

test('the watch event of a write reuses the protobuf message that was encoded for its response', () => {
  const { forms, itemOf } = harness()
  forms.message(itemOf())
  const object = { ...lease }
  const answered = forms.writtenMessage(object)
  const item = itemOf(object)
  assert.equal(forms.message(item), answered)
  assert.deepEqual(forms.message(item), answered)
  // The cached protobuf message was already used for one event, so another event gets a new
  // message.
  assert.notEqual(forms.message(itemOf(object)), answered)
})

test('the protobuf message of a written object equals the message that is generated from its JSON', () => {
  const { forms, itemOf } = harness()
  assert.deepEqual(forms.writtenMessage({ ...lease }), forms.message(itemOf()))
})

test('the protobuf message of a write is not retained if no client reads protobuf', () => {
  const { forms, itemOf } = harness()
  const object = { ...lease }
  const answered = forms.writtenMessage(object)
  assert.notEqual(forms.message(itemOf(object)), answered)
})
