import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn } from '../../../../test/support/harness/memory-control-plane.ts'
import { parts } from '../../../lib/scheduling/parts.ts'
import { atOnce } from '../../../lib/scheduling/slices.ts'
import { encodeEvent, encodeItem, encodeObject, eventWrapper, wrapItem } from './envelope.ts'

test('a watch event that wraps a protobuf message has the same bytes as an event that encodes the object, whatever its length', () => {
  const typeMeta = { kind: 'Pod', apiVersion: 'v1' }
  const wrap = eventWrapper(typeMeta)
  // At these sizes, the number of bytes of a length changes: one byte up to 127, and two bytes up
  // to 16,383. Several lengths change at once, because messages are nested.
  const lengths = [
    ...Array(160).keys(),
    ...Array.from({ length: 60 }, (_, at) => 16_340 + at),
    2 ** 21,
    3 << 20,
  ]
  for (const length of lengths) {
    const item = Buffer.alloc(length, 7)
    for (const type of ['ADDED', 'MODIFIED', 'DELETED'])
      assert.ok(
        wrap(type, item).equals(encodeEvent(type, wrapItem(typeMeta, item))),
        `${type} of ${length} bytes`,
      )
  }
})

test('a protobuf message has the same bytes, whether or not it is encoded in parts', () => {
  const { struct } = builtIn('pods').shape
  const containers = Array.from({ length: 40 }, (_, at) => ({
    name: `c${at}`,
    env: [{ name: 'a', value: `${at}` }],
  }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { a: 'b', c: 'd' } },
    spec: { containers },
  }
  const slices = { isOver: true, begin: () => undefined, stepsPerLook: 1 }
  for (const encode of [encodeItem, encodeObject]) {
    const divided = atOnce(parts(() => encode(pod, struct), slices))
    assert.ok(divided.equals(encode(pod, struct)), encode.name)
  }
})
