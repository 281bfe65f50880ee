import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'cborg'
import fc from 'fast-check'
import type { Json } from '../../../api/object.ts'
import type { Struct } from '../../schema/schema.ts'
import { parseJson } from '../../../api/json-value.ts'
import { encodeCbor } from './encode.ts'
import { CborError, cborPrefix, cborToJson, isCbor } from './to-json.ts'

const read = (hex: string): string => cborToJson(Buffer.from(hex, 'hex'))

/** JSON values that are within the limits of the API. */
const json = fc.jsonValue({ maxDepth: 5 }).filter((value) => JSON.stringify(value).length < 20_000)

test('a value that is encoded as CBOR decodes to the same value', () => {
  fc.assert(
    fc.property(json, (value) => {
      const wanted: Json = JSON.parse(JSON.stringify(value))
      const bytes = encodeCbor(wanted)
      assert.ok(isCbor(bytes))
      assert.deepEqual(parseJson(Buffer.from(cborToJson(bytes))), plain(wanted))
    }),
  )
})

/**
 * Returns a value as it is expected after encoding and decoding: -0 becomes 0, and lone surrogates
 * are replaced.
 */
const plain = (value: Json): Json =>
  JSON.parse(JSON.stringify(value).replace(/\\ud[89a-f][0-9a-f]{2}/g, '\ufffd'))

test('cborg decodes the output of encodeCbor', () => {
  fc.assert(
    fc.property(json, (value) => {
      const wanted: Json = JSON.parse(JSON.stringify(value))
      const decoded = decode(encodeCbor(wanted).subarray(cborPrefix.length), { useMaps: true })
      assert.deepEqual(withTexts(decoded), plain(wanted))
    }),
  )
})

/**
 * Converts byte strings to strings. Keelson encodes all strings, including keys, as byte strings,
 * and cborg decodes them as bytes.
 */
function withTexts(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (Array.isArray(value)) return value.map(withTexts)
  if (!(value instanceof Map)) return value
  const fields: [string, unknown][] = [...value].map(([key, field]) => [
    String(withTexts(key)),
    withTexts(field),
  ])
  return Object.fromEntries(fields)
}

test('cborToJson decodes the output of cborg', () => {
  fc.assert(
    fc.property(json, (value) => {
      const wanted: Json = JSON.parse(JSON.stringify(value))
      assert.deepEqual(parseJson(Buffer.from(cborToJson(Buffer.from(encode(wanted))))), wanted)
    }),
  )
})

const fieldNamed = (name: string): Struct['fields'][number] => ({
  name,
  schema: { type: name === 'data' ? 'bytes' : 'float64', goName: '' },
  isPointer: false,
  omit: 'empty',
  isRequired: false,
  number: 0,
  topology: undefined,
  patch: undefined,
  default: undefined,
})

test('in CBOR, bytes are tagged, and float64 fields are encoded as floats', () => {
  const fields = [fieldNamed('data'), fieldNamed('least')]
  const byName = new Map(fields.map((field) => [field.name, field]))
  const type = {
    type: 'struct',
    name: 'T',
    packageName: 't',
    goName: 'T',
    isAtomic: false,
    defaults: undefined,
  } as const
  const bytes = encodeCbor({ data: 'YWJj', least: 1 }, { ...type, fields, byName, embedded: [] })
  assert.equal(bytes.toString('hex'), 'd9d9f7a24464617461d643616263456c65617374f93c00')
  assert.equal(cborToJson(bytes), '{"data":"YWJj","least":1.0}')
})

test('numbers have the shortest CBOR encoding', () => {
  const cases: readonly [number | bigint, string][] = [
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [-1, '20'],
    [-25, '3818'],
    [65_536, '1a00010000'],
    [2 ** 32, '1b0000000100000000'],
    [9_223_372_036_854_775_807n, '1b7fffffffffffffff'],
    [-9_223_372_036_854_775_808n, '3b7fffffffffffffff'],
    [1.5, 'f93e00'],
    [2 ** -24, 'f90001'],
    [2 ** -14, 'f90400'],
    [0.1, 'fb3fb999999999999a'],
    [3.4028234663852886e38, 'fa7f7fffff'],
    [1e300, 'fb7e37e43c8800759c'],
  ]
  for (const [value, hex] of cases)
    assert.equal(encodeCbor(value).toString('hex'), `d9d9f7${hex}`, `${value}`)
})

test('cborToJson decodes values of all types', () => {
  const cases: readonly [string, string][] = [
    ['bf6161016162820203ff', '{"a":1,"b":[2,3]}'],
    ['9f01820203ff', '[1,[2,3]]'],
    ['7f61616162ff', '"ab"'],
    ['5f41614162ff', '"ab"'],
    ['d9d9f7d9d9f7f6', 'null'],
    ['d643616263', '"YWJj"'],
    ['d543fbefff', '"--__"'],
    ['d743616263', '"616263"'],
    ['c074323031332d30332d32315432303a30343a30305a', '"2013-03-21T20:04:00Z"'],
    ['c11a514b67b0', '"2013-03-21T20:04:00Z"'],
    ['c1fb41d452d9ec200000', '"2013-03-21T20:04:00.5Z"'],
    ['d9010001', '1'],
    ['f90000', '0.0'],
    ['f98000', '-0.0'],
    ['fa47c35000', '100000.0'],
    ['f97bff', '65504.0'],
    ['41ff', '"\ufffd"'],
    ['a1695f5f70726f746f5f5f01', '{"__proto__":1}'],
  ]
  for (const [hex, wanted] of cases) assert.equal(read(hex), wanted, hex)
})

test('CBOR input that the API does not accept is rejected with the error messages of the Go library', () => {
  const deep = `${'81'.repeat(65)}01`
  const cases: readonly [string, string][] = [
    ['', 'EOF'],
    ['a1', 'unexpected EOF'],
    ['5bffffffffffffffff', 'unexpected EOF'],
    ['0101', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['a2616101616102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a2616101416102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a10102', 'cbor: cannot unmarshal positive integer into Go value of type string'],
    ['61ff', 'cbor: invalid UTF-8 string'],
    [
      'f97e00',
      'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN',
    ],
    [
      'f97c00',
      'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity',
    ],
    [
      'f7',
      'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized',
    ],
    ['c24101', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
    ['1c', 'cbor: invalid additional information 28 for type positive integer'],
    ['1f', 'cbor: invalid additional information 31 for type positive integer'],
    ['ff', 'cbor: unexpected "break" code'],
    ['bf6161ff', 'cbor: unexpected "break" code'],
    [deep, 'cbor: exceeded max nested level 64'],
    [`990401${'01'.repeat(1025)}`, 'cbor: exceeded max number of elements 1024 for CBOR array'],
    [`9f${'01'.repeat(1025)}ff`, 'cbor: exceeded max number of elements 1024 for CBOR array'],
    ['b90401', 'cbor: exceeded max number of key-value pairs 1024 for CBOR map'],
    ['c001', 'cbor: wrong content type positive integer of tag 0'],
    ['c0626161', 'cbor: cannot read the time in a tag'],
    [
      '1bffffffffffffffff',
      "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)",
    ],
  ]
  for (const [hex, message] of cases) assert.throws(() => read(hex), new CborError(message), hex)
})
