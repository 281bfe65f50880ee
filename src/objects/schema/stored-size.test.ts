import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody } from '../codec/decode-body.ts'
import { parts } from '../../lib/scheduling/parts.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'

const resources = builtInResources()
const never = { isOver: false, begin: (): void => undefined }

function decoded(plural: string, fields: object): object {
  const resource = resources.find(
    (one) => one.plural === plural && one.isStored && one.version === 'v1',
  )
  assert.ok(resource !== undefined)
  const bytes = Buffer.from(JSON.stringify({ metadata: { name: 'x' }, ...fields }))
  return allSteps(parts(() => decodeBody({ bytes }, resource, 'Ignore'), never)).object
}

const many = (count: number): readonly object[] => Array.from({ length: count }, () => ({}))
const refusal = {
  code: 413,
  message: /^Request entity too large: .* more than the 2097152 bytes that can be stored$/,
}

test('an object that would be too large to store with its defaults is rejected before its defaults are set', () => {
  assert.throws(() => decoded('pods', { spec: { containers: many(100_000) } }), refusal)
  assert.throws(() => decoded('services', { spec: { ports: many(500_000) } }), refusal)
  assert.throws(() => decoded('nodes', { metadata: { ownerReferences: many(300_000) } }), refusal)
  assert.throws(
    () => decoded('statefulsets', { spec: { volumeClaimTemplates: many(200_000) } }),
    refusal,
  )
})

test('an object with many small items is accepted if kube-apiserver can also store it', () => {
  assert.ok(decoded('networkpolicies', { spec: { podSelector: {}, ingress: many(700_000) } }))
  const args = Array.from({ length: 500_000 }, () => '')
  assert.ok(decoded('pods', { spec: { containers: [{ name: 'a', image: 'b', args }] } }))
})
