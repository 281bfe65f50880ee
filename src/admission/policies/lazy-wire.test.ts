import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject } from '../../../test/support/harness/admission.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { wholeWire } from '../../objects/apply/wire.ts'
import { LazyFields, LazyItems } from '../../objects/cel/json-values.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { LazyWire } from './lazy-wire.ts'

const resources = builtInResources({
  isServed: () => true,
  gates: { release: 33, isOn: () => true },
})

function structOf(kind: string): ConstructorParameters<typeof LazyWire>[1] {
  const resource = resources.find((one) => one.kind === kind)
  assert.ok(resource)
  return resource.shape.struct
}

/** Reads all given fields one by one, and compares them with the fields of the whole object. */
function readAll(fields: LazyFields, whole: Fields, keys: Iterable<string>): void {
  for (const key of keys) {
    const part = fields.read(key)
    const expected: Json | undefined = Object.hasOwn(whole, key) ? whole[key] : undefined
    if (part instanceof LazyFields) {
      assert.ok(isFields(expected), key)
      assert.deepEqual(part.whole, expected, key)
      readAll(part, expected, Object.keys(expected))
    } else if (part instanceof LazyItems) {
      assert.ok(Array.isArray(expected) && part.size === expected.length, key)
      assert.deepEqual(part.whole, expected, key)
      for (const [at, item] of expected.entries()) {
        const read = part.at(at)
        assert.deepEqual(read instanceof LazyFields ? read.whole : read, item)
        if (read instanceof LazyFields && isFields(item)) readAll(read, item, Object.keys(item))
      }
    } else assert.deepEqual(part, expected, key)
  }
}

const raw = '{"f:data":{"f:a":{}}}'
const objects = {
  empty: {},
  'with empty parts': {
    metadata: { labels: {}, managedFields: [] },
    spec: {},
    status: {},
    data: {},
  },
  full: {
    metadata: { name: 'n', labels: { a: 'b' }, managedFields: [{ manager: 'm', fieldsV1: raw }] },
    spec: {
      replicas: 0,
      selector: {},
      strategy: { rollingUpdate: {} },
      containers: [{ name: 'c', env: [{ name: 'e' }], resources: {} }, {}, null],
      template: {
        metadata: {},
        spec: { containers: [{ name: 'c', image: 'i' }], securityContext: {} },
      },
      hostNetwork: false,
    },
    status: { loadBalancer: {} },
    data: { a: '1' },
  },
} as const

test('reading an object field by field gives the same values as decoding the whole object', () => {
  for (const kind of ['ConfigMap', 'Pod', 'Deployment', 'Service', 'Namespace', 'Node', 'Event']) {
    const struct = structOf(kind)
    for (const fields of Object.values(objects)) {
      const object = anObject(kind, 'n', fields)
      const names = [...struct.byName.keys(), 'unknown', 'constructor', '__proto__']
      readAll(new LazyWire(object, struct), wholeWire(object, struct), names)
    }
  }
})

test('the fields of a custom object are returned as the client sent them', () => {
  const { byName } = structOf('ConfigMap')
  const metadata = byName.get('metadata')
  assert.ok(metadata)
  const struct = {
    ...structOf('ConfigMap'),
    fields: [metadata],
    byName: new Map([['metadata', metadata]]),
    open: () => assert.fail(),
  }
  const object = anObject('Widget', 'w', { spec: { a: [], b: null }, other: 0 })
  readAll(new LazyWire(object, struct), wholeWire(object, struct), [
    ...Object.keys(object),
    'constructor',
    'toString',
  ])
})
