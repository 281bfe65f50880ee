import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonMap } from '../../api/json-map.ts'
import { fieldsOf, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { encodeCbor } from './cbor/encode.ts'
import { parseJson } from '../../api/json-value.ts'
import { compareKeys, printOrdered, printSorted, printString } from './json.ts'
import { parts } from '../../lib/scheduling/parts.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { plainSchema } from '../schema/object-schema.ts'
import { customStruct } from '../../registry/custom/custom-schema.ts'
import { commonType } from '../../registry/types.ts'
import { readStructural } from '../schema/structural/read-structural.ts'
import { jsonToYaml } from './yaml-print.ts'
import {
  decodeStored,
  encodeStored,
  isOutdated,
  objectText,
  printObject,
  printWire,
  UnreadableError,
  wireOfStored,
} from './object.ts'

const configMap = plainSchema(commonType('core/v1', 'ConfigMap'))
const replicaSet = plainSchema(commonType('apps/v1', 'ReplicaSet'))

const object: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  data: { '10': 'a', '9': 'b', z: '<>&\u2028\u2029', ä: '', '\u{1f600}': '1', '\uffee': '2' },
  metadata: {
    annotations: { text: 'a "resourceVersion":"7" in a text' },
    name: 'c',
    uid: 'u',
    resourceVersion: '42',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: {},
    finalizers: [],
  },
  binaryData: { k: 'AP8=' },
  unknown: 5,
}

test('an object is printed in the same way as in Go', () => {
  const { bytes } = printWire(object, configMap)
  assert.equal(
    bytes.toString(),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","uid":"u","resourceVersion":"42",' +
      '"creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"text":"a \\"resourceVersion\\":\\"7\\" in a text"}},' +
      '"data":{"10":"a","9":"b","z":"\\u003c\\u003e\\u0026\\u2028\\u2029","ä":"","\uffee":"2","\u{1f600}":"1"},' +
      '"binaryData":{"k":"AP8="}}\n',
  )
})

test('an object that is stored as CBOR can be decoded', () => {
  const { bytes } = printWire(object, configMap)
  const stored = encodeCbor(parseJson(bytes), configMap.struct)
  assert.deepEqual(decodeStored(stored, configMap, 42), decodeStored(bytes, configMap, 42))
  assert.throws(() => decodeStored(stored.subarray(0, 30), configMap, 42), UnreadableError)
})

const withBytes = (value: string): KubeObject => {
  const json = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"binaryData":{"a":${value}}}`
  return decodeStored(Buffer.from(json), { ...configMap, bytesField: 'binaryData' }, 1)
}

test('null bytes in a stored object are decoded as empty bytes, and the object is marked as outdated', () => {
  assert.deepEqual({ ...fieldsOf(withBytes('null')['binaryData']) }, { a: '' })
  assert.deepEqual([isOutdated(withBytes('null')), isOutdated(withBytes('""'))], [true, false])
})

test('empty structs in an object are printed, and an unset time is printed as null', () => {
  const empty = { kind: 'ReplicaSet', apiVersion: 'apps/v1', metadata: { resourceVersion: '1' } }
  assert.equal(
    printWire(empty, replicaSet).bytes.toString(),
    '{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"resourceVersion":"1","creationTimestamp":null},' +
      '"spec":{"selector":null,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":null}}},"status":{"replicas":0}}\n',
  )
})

test('printWire returns the length of kind and apiVersion, and the position of the resourceVersion', () => {
  const { bytes, headBytes, versionAt } = printWire(object, configMap)
  assert.equal(bytes.subarray(0, headBytes).toString(), '{"kind":"ConfigMap","apiVersion":"v1",')
  assert.equal(bytes.subarray(versionAt, versionAt + 3).toString(), '42"')
})

test('the JSON that clients receive for an object that was just stored is created from the stored bytes', () => {
  const stored = encodeStored(object, configMap)
  assert.deepEqual(wireOfStored(stored, object, configMap), printWire(object, configMap))
  const nameless = { ...object, metadata: { resourceVersion: '1' } }
  assert.equal(wireOfStored(encodeStored(nameless, configMap), nameless, configMap), undefined)
})

test('the JSON that clients receive for a custom object is created from the stored bytes, whatever the names of its fields', () => {
  const struct = customStruct('C', () => readStructural({}))
  const labels = { resourceVersion: 'v', uid: 'u' }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'ä', uid: 'u' }]
  const metadata = { name: 'c', uid: 'u', labels, ownerReferences, resourceVersion: '42' }
  const custom = { apiVersion: 'a/v1', kind: 'C', metadata, data: { uid: 'ü' }, spec: { uid: 'u' } }
  const { bytes, headBytes, versionAt } = printWire(custom, plainSchema(struct))
  assert.equal(bytes.subarray(versionAt, versionAt + 9).toString(), '42","uid"')
  assert.equal(headBytes, 1)
  const stored = encodeStored(custom, plainSchema(struct))
  assert.deepEqual(wireOfStored(stored, custom, plainSchema(struct)), {
    bytes,
    headBytes,
    versionAt,
  })
})

test('a stored object has no resourceVersion, and gets the revision at which it is read', () => {
  const stored = encodeStored(object, configMap)
  assert.ok(!stored.includes('"resourceVersion":"'))
  const read = decodeStored(stored, configMap, 42)
  assert.deepEqual(encodeStored(read, configMap), stored)
  assert.deepEqual(printWire(read, configMap), printWire(object, configMap))
  assert.deepEqual(decodeStored(printWire(object, configMap).bytes, configMap, 42), read)
})

test('values that cannot be decoded are rejected', () => {
  const bad = [
    '',
    '{',
    '[]',
    '{}',
    '{"kind":"ConfigMap","apiVersion":"v1","data":{"a":1}}',
    'k8s\0\n\x0f\n\x02v1',
  ]
  for (const text of bad) {
    assert.throws(() => decodeStored(Buffer.from(text), configMap, 1), UnreadableError, text)
  }
})

const inCbor = (json: string): string => encodeCbor(parseJson(Buffer.from(json))).toString('hex')

test('64-bit integers keep all their digits, and larger integers become floats', () => {
  const text =
    '{"a":9007199254740993,"b":[-9223372036854775808,18446744073709551615],"c":1.5,"e":"1234567890123456789"}'
  assert.equal(printOrdered(parseJson(Buffer.from(text))), text)
  const longer = parseJson(
    Buffer.from('[18446744073709551616,-9223372036854775809,100000000000000000000]'),
  )
  assert.deepEqual(longer, [2 ** 64, -(2 ** 63), 1e20])
  assert.equal(jsonToYaml([1e308 * 10, -1e308 * 10]), '- .inf\n- -.inf\n')
  assert.equal(jsonToYaml(longer), '- 1.8446744073709552e+19\n- -9.223372036854776e+18\n- 1e+20\n')
  assert.ok(inCbor('9223372036854775807').endsWith('1b7fffffffffffffff'))
  assert.ok(inCbor('9223372036854775808').endsWith('fa5f000000'))
  assert.ok(inCbor('100000000000000000000').endsWith('fb4415af1d78b58c40'))
})

test('a document that is nested too deeply is rejected without overflowing the stack', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  assert.throws(() => printOrdered(parseJson(Buffer.from(deep))), /exceeded max depth/)
})

test('keys are sorted in the order of their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
})

function mapOf(entries: readonly (readonly [string, Json])[]): Json {
  const map = new JsonMap()
  for (const [key, value] of entries) map[key] = value
  return map
}

test('printSorted sorts the keys of values at every level', () => {
  const key = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('10', '9', '01', '__proto__', 'toJSON', '\ud800'),
  )
  const { value: anything } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      key,
      fc.constantFrom(null, true, 0.5, -1, 1e21, 2n ** 60n, '<&>', '\u2028', '\\ud800'),
      fc.array(tie('value')),
      fc.array(fc.tuple(key, tie('value'))).map(mapOf),
    ),
  }))
  const printed = (value: Json): string => {
    if (Array.isArray(value)) return `[${value.map(printed).join(',')}]`
    if (!isFields(value)) return printOrdered(value)
    const keys = Object.keys(value).toSorted(compareKeys)
    return `{${keys.map((name) => `${printString(name)}:${printed(value[name] ?? null)}`).join(',')}}`
  }
  fc.assert(fc.property(anything, (value) => assert.equal(printSorted(value), printed(value))))
})

test('a printed string can be parsed to the same string, except for lone surrogates', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isBroken) => {
      const given = isBroken ? `${text}\ud800` : text
      const printed = printString(given)
      assert.ok(!/[<>&\u2028\u2029]/.test(printed))
      assert.equal(JSON.parse(printed), given.toWellFormed())
    }),
  )
})

test('a long string is printed correctly, whether or not the work is divided into parts', () => {
  const always = { isOver: true, begin: () => undefined, stepsPerLook: 1 }
  for (const unit of ['a', '<', '"&\u2028\u2029é', '\u{1f600}', 'x\ud800']) {
    // A long string is printed in pieces. For one of these two prefixes, a piece would end inside a
    // surrogate pair.
    for (const start of ['', 'y']) {
      const text = start + unit.repeat(40_000)
      const expected = `"${start}${printString(unit).slice(1, -1).repeat(40_000)}"`
      assert.ok(printString(text) === expected, `${unit} ${start}`)
      assert.ok(
        allSteps(parts(() => printString(text), always)) === expected,
        `${unit} ${start} in parts`,
      )
    }
  }
})

test('property: any ConfigMap is unchanged after it is stored and decoded', () => {
  const texts = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(texts, texts, (data, labels) => {
      const given: KubeObject = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'c', labels },
        data,
      }
      const stored = encodeStored(given, configMap)
      const read = decodeStored(stored, configMap, 7)
      assert.deepEqual({ ...fieldsOf(read['data']) }, { ...data })
      assert.deepEqual({ ...read.metadata.labels }, { ...labels })
      assert.deepEqual(encodeStored(read, configMap), stored)
    }),
  )
})

test('an object without metadata or other fields is valid JSON', () => {
  const options: KubeObject = { kind: 'PodProxyOptions', apiVersion: 'v1', metadata: {} }
  const struct = commonType('core/v1', 'PodProxyOptions')
  assert.equal(objectText(options, struct), '{"kind":"PodProxyOptions","apiVersion":"v1"}')
  assert.equal(
    objectText({ ...options, path: '/' }, struct),
    '{"kind":"PodProxyOptions","apiVersion":"v1","path":"/"}',
  )
})

test('encoding an object with long strings in parts has the same result as encoding the object in one step', () => {
  const slices = { isOver: true, begin: (): void => undefined, stepsPerLook: 1 }
  const data = { a: `x${'😀'.repeat(600_000)}`, b: 'y'.repeat(900_000) }
  const long: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', uid: 'u' },
    data,
  }
  assert.ok(
    allSteps(parts(() => encodeStored(long, configMap), slices)).equals(
      encodeStored(long, configMap),
    ),
  )
  assert.ok(
    allSteps(parts(() => printObject(long, configMap), slices)).equals(
      printObject(long, configMap),
    ),
  )
})

test('JSON that is too large to be stored is rejected', () => {
  const data = { a: 'x'.repeat(9 << 20) }
  const long: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data }
  assert.throws(() => encodeStored(long, configMap), { code: 413 })
})
