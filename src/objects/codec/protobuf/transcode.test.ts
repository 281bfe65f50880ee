import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonType } from '../../../registry/types.ts'
import { decodeStruct } from '../decode.ts'
import { printStruct } from '../print.ts'
import { encodeItem } from './envelope.ts'
import { Transcoder } from './transcode.ts'

test('an object whose message is several times as long as its JSON can be transcoded', () => {
  const struct = commonType('apiextensions/v1', 'CustomResourceDefinition')
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', anyOf: Array.from({ length: 500 }, () => ({})) } },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
  }
  const { value } = decodeStruct(
    JSON.stringify({ spec: { group: 'a.b', scope: 'Cluster', versions: [version] } }),
    struct,
  )
  const made = new Transcoder().message(Buffer.from(printStruct(value, struct)), 0, struct)
  const wanted = encodeItem(value, struct)
  assert.ok((made ?? wanted).equals(wanted))
})
