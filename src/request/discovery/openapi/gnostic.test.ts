import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeV2 } from './gnostic.ts'

test('OpenAPI extensions are encoded as YAML in the form that clients expect', async () => {
  const fields = [{ fieldPath: 'spec.color' }, { fieldPath: 'spec.size' }]
  const definitions = { Shirt: { type: 'object', 'x-kubernetes-selectable-fields': fields } }
  const document = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: {},
    definitions,
  }
  const encoded = (await encodeV2(Buffer.from(JSON.stringify(document)))).toString('latin1')
  assert.ok(encoded.includes('- fieldPath: spec.color\n- fieldPath: spec.size\n'))
})
