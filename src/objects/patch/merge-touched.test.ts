import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { decodeStruct } from '../codec/decode.ts'
import { objectText } from '../codec/object.ts'
import { commonType } from '../../registry/types.ts'
import { JsonNode, type Members } from './document.ts'
import { mergeInto } from './merge-patch.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { mergeTouched } from './merge-touched.ts'
import { Work } from './work.ts'

const struct = commonType('apps/v1', 'Deployment')
const shape = { struct, setDefaults: (object: KubeObject): KubeObject => object }

const decoded = (text: string): KubeObject => {
  const { value, fault } = decodeStruct(text, struct)
  assert.equal(fault, undefined)
  return {
    ...value,
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: fieldsOf(value['metadata']),
  }
}

const current = decoded(
  JSON.stringify({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: 'd',
      labels: { a: 'b' },
      managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} } }],
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'a', image: 'i:1' }] },
      },
    },
    status: { readyReplicas: 1 },
  }),
)

const membersOf = (patch: unknown): Members =>
  new JsonNode(JSON.stringify(patch), new Work()).members() ?? new Map()

function wholly(patch: unknown): KubeObject {
  const root = new JsonNode(objectText(current, struct), new Work())
  allSteps(mergeInto(root.members() ?? new Map(), membersOf(patch)))
  return decoded(root.print())
}

const quickly = (patch: unknown): KubeObject | undefined =>
  allSteps(mergeTouched(current, membersOf(patch), { shape, work: new Work() }))

const metadata = fc.record(
  {
    labels: fc.constantFrom({ a: 'c' }, { a: null, n: 'x' }, null, {}),
    annotations: fc.constantFrom({ z: 'y' }, null),
    managedFields: fc.constantFrom(null, [{}]),
  },
  { requiredKeys: [] },
)
const spec = fc.record(
  {
    replicas: fc.constantFrom(0, 2, 3, null),
    paused: fc.boolean(),
    selector: fc.constantFrom({ matchLabels: { b: 'c' } }, null),
    strategy: fc.constantFrom({ rollingUpdate: { maxSurge: '5%', maxUnavailable: null } }, {}),
    template: fc.record(
      {
        metadata,
        spec: fc.constantFrom({ containers: [{ name: 'n' }] }, { hostNetwork: true }, null),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const status = fc.constantFrom(null, { readyReplicas: 0 }, {})

test('patching only the changed fields has the same result as patching the whole object', () => {
  fc.assert(
    fc.property(fc.record({ metadata, spec, status }, { requiredKeys: [] }), (patch) => {
      const quick = quickly(patch)
      assert.ok(quick)
      assert.equal(objectText(quick, struct), objectText(wholly(patch), struct))
    }),
  )
})

test('fields that are not in the patch are shared with the current object instead of being copied', () => {
  const quick = quickly({ metadata: { labels: { a: 'x' } } })
  assert.equal(quick?.['spec'], current['spec'])
  assert.equal(quick?.metadata['managedFields'], current.metadata['managedFields'])
})

test('mergeTouched returns undefined for an invalid patch, and for a patch that sets the kind', () => {
  for (const patch of [
    { kind: 'Other' },
    { apiVersion: 'v2' },
    { unknown: 1 },
    { metadata: { unknown: 1 } },
    { spec: { replicas: 'x' } },
    JSON.parse('{"__proto__":{"a":1}}'),
    { metadata: { constructor: 1 } },
  ]) {
    assert.equal(quickly(patch), undefined, JSON.stringify(patch))
  }
})
