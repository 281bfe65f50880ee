import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner } from '../../api/json-scanner.ts'
import type { Json } from '../../api/object.ts'
import { decodeStruct } from '../codec/decode.ts'
import { readAny } from '../../api/json-value.ts'
import { printFields } from '../codec/print.ts'
import { commonType } from '../../registry/types.ts'
import { type RestoreResult, restoreStruct } from './restore.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { mergeMaps } from './strategic.ts'
import { Work } from './work.ts'
import { touchedTree } from './touched.ts'

const deployment = commonType('apps/v1', 'Deployment')
const { value: current } = decodeStruct(
  JSON.stringify({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: 'd',
      labels: { a: 'b' },
      finalizers: ['x/y', 'x/z'],
      managedFields: [
        { manager: 'm', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      ],
    },
    spec: {
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '10%' } },
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            {
              name: 'a',
              image: 'i:1',
              ports: [{ containerPort: 80 }],
              resources: { limits: { cpu: '1500m' } },
            },
            { name: 'b', image: 'i:2', env: [{ name: 'E', value: 'v' }] },
          ],
        },
      },
    },
  }),
  deployment,
)

const tree = (value: unknown): Json => readAny(new JsonScanner(JSON.stringify(value)))

function patched(patch: unknown, live: (patch: JsonMap) => Json): RestoreResult {
  const given = tree(patch)
  assert(given instanceof JsonMap)
  const into = live(given)
  assert(into instanceof JsonMap)
  return restoreStruct(
    allSteps(mergeMaps(into, given, { schema: deployment, work: new Work() })),
    deployment,
    {
      tree: current,
      value: current,
    },
  )
}

const ofAll = (): Json => tree(JSON.parse(`{${printFields(current, deployment, 0)}}`))
const ofTouched = (given: JsonMap): Json => touchedTree(current, given, deployment)

/** Compares objects as JSON text, in which an empty struct and an absent struct look the same. */
const written = ({ value, strictFaults }: RestoreResult): unknown => [
  printFields(value, deployment, 0),
  strictFaults,
]

const metadata = fc.record(
  {
    labels: fc.constantFrom({ a: 'c' }, { a: null, n: 'x' }, { $patch: 'replace', q: 'r' }),
    finalizers: fc.constant(['x/w']),
    '$setElementOrder/finalizers': fc.constant(['x/z', 'x/w']),
    '$deleteFromPrimitiveList/finalizers': fc.constant(['x/y']),
    managedFields: fc.constantFrom(null, [{}]),
  },
  { requiredKeys: [] },
)
const container = fc.constantFrom(
  { name: 'a', image: 'i:3' },
  { name: 'b', $patch: 'delete' },
  {
    name: 'a',
    ports: [{ containerPort: 80, protocol: 'UDP' }],
    resources: { limits: { cpu: null, memory: 1024 } },
  },
  { name: 'c', image: 'new' },
)
const spec = fc.record(
  {
    replicas: fc.constantFrom(0, 2, 3, null),
    strategy: fc.constantFrom(
      { $retainKeys: ['type'], type: 'Recreate' },
      { rollingUpdate: { maxSurge: '5%' } },
    ),
    template: fc.record(
      {
        metadata,
        spec: fc.record({
          containers: fc.uniqueArray(container, { selector: ({ name }) => name }),
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

test('merging a patch into a tree of only the patched fields has the same result as merging it into the complete tree', () => {
  fc.assert(
    fc.property(fc.record({ metadata, spec }, { requiredKeys: [] }), (patch) => {
      assert.deepEqual(written(patched(patch, ofTouched)), written(patched(patch, ofAll)))
    }),
  )
})

test('fields that are not in the patch are not converted to a tree', () => {
  const { value } = patched({ spec: { replicas: 5 } }, ofTouched)
  assert.equal(value['metadata'], current['metadata'])
})
