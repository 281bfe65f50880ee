// Validation of custom resources against every keyword of their schemas: exact causes and messages.
import { POST, PATCH } from '../steps.ts';
import { GROUP, crd, at, widget, object, string, integer, number, boolean, list, map, anything, withCrd, causeLines } from './kit/crd.mjs';

const section = '4.9';
const ios = { 'x-kubernetes-int-or-string': true };
/** A value of spec.v is tried (dry run); the answer is the causes, or 'valid'. */
const tried = (v) => POST(at(), typeof v === 'string' && v.startsWith('raw:') ? `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"v":${v.slice(4)}}}` : widget('w', { spec: { v } }), { query: { dryRun: 'All' }, pick: (b) => (b?.spec ? { valid: b.spec.v } : b?.details?.causes ? causeLines(b) : b) });
const of = (id, about, schema, values) => withCrd(`crd-values-${id}`, { section, about }, crd({ spec: object({ v: schema }) }), values.map(tried));

const types = [
  of('type-string', 'values that are no string', string(), ['x', 5, 1.5, true, [], {}, null]),
  of('type-integer', 'values that are no integer', integer(), [5, -5, 5.5, 'raw:5.0', 'raw:1e3', 'raw:9223372036854775807', 'raw:9223372036854775808', '5', true, [], {}]),
  of('type-number', 'values that are no number', number(), [5, 5.5, 'raw:1e400', 'raw:1e30', '5', true, []]),
  of('type-boolean', 'values that are no boolean', boolean(), [true, false, 'true', 0, null]),
  of('type-array', 'values that are no array', list(string()), [['a'], [], {}, 'a', ['a', 5, null, {}]]),
  of('type-object', 'values that are no object', object({ a: string() }), [{}, { a: 'x' }, [], 'x', { a: 5 }]),
  of('type-map', 'values of a map', map(integer()), [{ a: 1 }, { a: 'x', b: 2 }, { '': 1 }, { 'odd key/.': 'x' }, []]),
  of('nullable', 'a nullable field', string({ nullable: true, minLength: 3 }), [null, 'ab', 'abc', 5]),
  of('nullable-object', 'a nullable object with required fields', object({ a: string() }, { nullable: true, required: ['a'] }), [null, {}, { a: null }]),
  of('int-or-string', 'int-or-string', { ...ios }, [5, '5', '25%', 5.5, true, null, {}, []]),
  of('int-or-string-limits', 'int-or-string with limits for each', { ...ios, anyOf: [{ type: 'integer' }, { type: 'string' }], minimum: 3, pattern: '^\\d+%$', maxLength: 4 }, [5, 1, '25%', 'x', '12345%', 2.5]),
  of('untyped', 'a field without type', { 'x-kubernetes-preserve-unknown-fields': true, minimum: 3, minLength: 2 }, [5, 1, 'a', 'ab', [1], {}]),
  of('nested-arrays', 'paths into arrays of arrays', list(list(integer())), [[[1]], [['x']], [[1], [2, 'y']], [1]]),
  of('nested-paths', 'paths into maps and lists', map(list(object({ a: integer() }))), [{ k: [{ a: 'x' }] }, { 'k.x/y z': [{ a: 1 }, { a: 'x' }] }]),
];

const numbers = [
  of('minimum', 'minimum', integer({ minimum: 3 }), [3, 2, -100]),
  of('maximum', 'maximum', integer({ maximum: 3 }), [3, 4]),
  of('exclusive', 'exclusive limits', number({ minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: true }), [1.5, 1, 2]),
  of('fraction-limits', 'limits with fractions', number({ minimum: 0.1, maximum: 1e21 }), [0.05, 'raw:1e22', 0.1]),
  of('multiple-of', 'multipleOf', integer({ multipleOf: 3 }), [9, 10, 0, -6]),
  of('multiple-of-fraction', 'multipleOf with fractions', number({ multipleOf: 0.1 }), [0.3, 0.35, 1]),
  of('formats-number', 'formats of numbers', object({ i32: integer({ format: 'int32' }), i64: integer({ format: 'int64' }), f: number({ format: 'float' }), d: number({ format: 'double' }) }), [{ i32: 5 }, { i32: 2147483648 }, { i64: 5 }, 'raw:{"i64":9223372036854775808}', 'raw:{"f":1e39}', { f: 1.5 }]),
  of('enum-number', 'enum of numbers', integer({ enum: [1, 2, 3] }), [1, 4, 'raw:1.0']),
];

const strings = [
  of('min-length', 'minLength counts characters', string({ minLength: 3 }), ['abc', 'ab', '', 'éé', '😀😀😀']),
  of('max-length', 'maxLength counts characters', string({ maxLength: 3 }), ['abc', 'abcd', 'ééé', '😀😀😀', '😀😀😀😀']),
  of('pattern', 'a pattern is not anchored', string({ pattern: 'a+b' }), ['xaaby', 'ab', 'xyz', '']),
  of('pattern-re2', 'patterns are RE2', string({ pattern: '^(?i)[[:alpha:]]\\p{Greek}\\z' }), ['aα', 'Aβ', '1α', 'aα\n']),
  of('enum-string', 'enum of strings', string({ enum: ['a', 'b', 'a "quoted"'] }), ['a', 'c', '', 'A']),
  of('enum-mixed', 'enum of several types', { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a', 1, true, { k: 'v' }, ['l']] }, ['a', 1, true, { k: 'v' }, ['l'], 'b', false, { k: 'w' }]),
  of('several-at-once', 'several violations of one value', string({ minLength: 5, pattern: '^a', enum: ['abcde'] }), ['x']),
];

const containers = [
  of('min-items', 'minItems', list(string(), { minItems: 2 }), [['a', 'b'], ['a'], []]),
  of('max-items', 'maxItems', list(string(), { maxItems: 2 }), [['a', 'b'], ['a', 'b', 'c']]),
  of('min-properties', 'minProperties', map(string(), { minProperties: 2 }), [{ a: '1', b: '2' }, { a: '1' }, {}]),
  of('max-properties', 'maxProperties', map(string(), { maxProperties: 1 }), [{ a: '1' }, { a: '1', b: '2' }]),
  of('required', 'required', object({ a: string(), b: object({ c: string() }, { required: ['c'] }) }, { required: ['a', 'b'] }), [{ a: 'x', b: { c: 'y' } }, {}, { a: 'x', b: {} }, { a: '' }]),
  of('required-in-items', 'required in items', list(object({ a: string() }, { required: ['a'] })), [[{ a: 'x' }, {}, { b: 1 }]]),
  of('required-odd-names', 'required fields with odd names', object({ 'a.b': string(), 'c/d': string(), 'e f': integer() }, { required: ['a.b', 'c/d'] }), [{}, { 'a.b': 'x', 'c/d': 'y', 'e f': 'z' }]),
  of('additional-properties-false', 'additionalProperties false', { type: 'object', additionalProperties: false }, [{}, { a: 1 }]),
  of('set', 'repeated items of a set', list(string(), { 'x-kubernetes-list-type': 'set' }), [['a', 'b'], ['a', 'b', 'a'], ['a', 'a', 'a', 'b', 'b']]),
  of('set-numbers', 'repeated numbers in a set', list(number(), { 'x-kubernetes-list-type': 'set' }), [[1, 2], [1, 1], 'raw:[1,1.0]']),
  of('set-objects', 'repeated objects in a set', list(object({ a: string(), b: integer() }, { 'x-kubernetes-map-type': 'atomic' }), { 'x-kubernetes-list-type': 'set' }), [[{ a: 'x' }, { a: 'y' }], [{ a: 'x', b: 1 }, { b: 1, a: 'x' }]]),
  of('set-lists', 'repeated lists in a set', list(list(string()), { 'x-kubernetes-list-type': 'set' }), [[['a'], ['b']], [['a', 'b'], ['a', 'b']]]),
  of('keyed', 'repeated keys of a keyed list', list(object({ k: string(), v: string() }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }), [[{ k: 'a' }, { k: 'b' }], [{ k: 'a', v: '1' }, { k: 'b' }, { k: 'a', v: '2' }], [{}, {}]]),
  of('keyed-two', 'a keyed list with two keys', list(object({ k: string(), n: integer(), v: string() }, { required: ['k', 'n'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'n'] }), [[{ k: 'a', n: 1 }, { k: 'a', n: 2 }], [{ k: 'a', n: 1 }, { n: 1, k: 'a', v: 'x' }]]),
  of('keyed-nested', 'a keyed list inside of a keyed list', list(object({ k: string(), l: list(object({ j: integer() }, { required: ['j'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['j'] }) }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }), [[{ k: 'a', l: [{ j: 1 }, { j: 1 }] }]]),
  of('keyed-wrong-types', 'items of a keyed list that are no objects', list(object({ k: string() }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }), [['a', 'a'], [{ k: 1 }, { k: 1 }], [null]]),
];

const junctors = [
  of('all-of', 'allOf', integer({ allOf: [{ minimum: 3 }, { multipleOf: 2 }] }), [4, 2, 5, 1]),
  of('any-of', 'anyOf', integer({ anyOf: [{ minimum: 10 }, { multipleOf: 2 }] }), [4, 11, 5]),
  of('one-of', 'oneOf', integer({ oneOf: [{ minimum: 10 }, { multipleOf: 2 }] }), [4, 11, 12, 5]),
  of('not', 'not', string({ not: { pattern: '^x' } }), ['a', 'xa']),
  of('not-enum', 'not with an enum', string({ not: { enum: ['a'] } }), ['b', 'a']),
  of('one-of-required', 'oneOf with required fields', object({ a: string(), b: string() }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }), [{ a: 'x' }, {}, { a: 'x', b: 'y' }]),
  of('any-of-required', 'anyOf with required fields', object({ a: string(), b: string() }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }), [{ a: 'x', b: 'y' }, {}]),
  of('not-required', 'not with required fields', object({ a: string(), b: string() }, { not: { required: ['a', 'b'] } }), [{ a: 'x' }, { a: 'x', b: 'y' }]),
  of('nested-properties', 'properties inside of allOf', object({ a: integer(), b: integer() }, { allOf: [{ properties: { a: { minimum: 3 } } }, { properties: { b: { maximum: 5 } } }] }), [{ a: 3, b: 5 }, { a: 1, b: 9 }]),
  of('nested-junctors', 'junctors inside of junctors', integer({ anyOf: [{ allOf: [{ minimum: 3 }, { maximum: 5 }] }, { not: { maximum: 100 } }] }), [4, 101, 50]),
  of('one-of-enum', 'oneOf with properties and enums', object({ kind: string(), a: string() }, { oneOf: [{ properties: { kind: { enum: ['A'] } }, required: ['a'] }, { properties: { kind: { enum: ['B'] } } }] }), [{ kind: 'B' }, { kind: 'A', a: 'x' }, { kind: 'A' }, { kind: 'C' }]),
];

const formats = {
  'date-time': ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456789+02:00', '2020-01-02t03:04:05z', '2020-01-02 03:04:05Z', '2020-01-02T03:04:05', '2020-13-02T03:04:05Z', '2020-02-30T03:04:05Z', '2020-01-02T24:00:00Z', '2020-01-02', ''],
  date: ['2020-02-29', '2021-02-29', '2020-1-2', '2020-01-02T00:00:00Z', '20200102', ''],
  duration: ['1h', '1h30m', '5 s', '3 days', '1.5h', '-1s', 'PT1H', '1', '1week', '2 weeks', '10 ns', ''],
  byte: ['aGVsbG8=', 'aGVsbG8', '!!!!', 'YQ==', ''],
  email: ['a@example.com', 'A B <a@example.com>', 'a@b', 'nope', '@x', ''],
  hostname: ['example.com', 'a', '-a.com', 'a_b.com', 'EXAMPLE.com', 'a..b', '1.2.3.4', 'xn--bcher-kva.ch', ''],
  ipv4: ['1.2.3.4', '256.1.1.1', '1.2.3', '::1', '01.2.3.4', ''],
  ipv6: ['::1', 'fe80::1', '1.2.3.4', '::ffff:1.2.3.4', 'gg::', 'fe80::1%eth0', ''],
  cidr: ['10.0.0.0/8', '10.0.0.1/8', 'fe80::/64', '10.0.0.0', '10.0.0.0/33', ''],
  mac: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23', ''],
  uri: ['https://example.com/a?b#c', '/path', 'example.com', 'http://[::1]/', 'mailto:a@b', 'a b', ''],
  uuid: ['0e2a6b5c-3d4f-4a5b-8c7d-9e0f1a2b3c4d', '0E2A6B5C-3D4F-4A5B-8C7D-9E0F1A2B3C4D', '0e2a6b5c3d4f4a5b8c7d9e0f1a2b3c4d', '0e2a6b5c-3d4f-4a5b-8c7d', ''],
  uuid3: ['0e2a6b5c-3d4f-3a5b-8c7d-9e0f1a2b3c4d', '0e2a6b5c-3d4f-4a5b-8c7d-9e0f1a2b3c4d'],
  uuid4: ['0e2a6b5c-3d4f-4a5b-8c7d-9e0f1a2b3c4d', '0e2a6b5c-3d4f-4a5b-cc7d-9e0f1a2b3c4d'],
  uuid5: ['0e2a6b5c-3d4f-5a5b-8c7d-9e0f1a2b3c4d', '0e2a6b5c-3d4f-4a5b-8c7d-9e0f1a2b3c4d'],
  isbn: ['0321751043', '978-0321751041', '0321751044', 'x'],
  isbn10: ['0321751043', '978-0321751041'],
  isbn13: ['978-0321751041', '0321751043'],
  creditcard: ['4111 1111 1111 1111', '4111-1111-1111-1111', '1234 5678', ''],
  ssn: ['123-45-6789', '123 45 6789', '123456789', '12-345-6789'],
  hexcolor: ['#FFFFFF', 'fff', '#ffff', 'red'],
  rgbcolor: ['rgb(1,2,3)', 'rgb(255, 255, 255)', 'rgb(256,0,0)', 'rgb(10%,0%,0%)', 'red'],
  bsonobjectid: ['507f1f77bcf86cd799439011', '507f1f77bcf86cd79943901', 'x'],
  password: ['anything', ''],
  datetime: ['2020-01-02T03:04:05Z', 'x'],
  'int-or-string': ['x', ''],
  quantity: ['not a quantity'],
};
const formatted = Object.entries(formats).map(([format, values]) => of(`format-${format}`, `strings of format ${format}`, string({ format }), values));

const numbered = (count, entry) => Array.from({ length: count }, (_, n) => entry(String(n).padStart(3, '0'))).join(',');
const flooded = { compareHeaders: ['warning'], pick: (b) => b?.kind };
const floods = {
  'repeated-keys': `"m":{${numbered(400, (n) => `"k${n}":"1","k${n}":"2"`)}}`,
  'unknown-fields': numbered(400, (n) => `"u${n}":1`),
  'repeated-and-unknown': `"m":{${numbered(60, (n) => `"k${n}":"1","k${n}":"2"`)}},${numbered(90, (n) => `"u${n}":1`)}`,
};
const whole = [
  withCrd('crd-values-many-errors', { section, about: 'all errors of an object at once, in no fixed order' }, crd({ spec: object({ a: string({ minLength: 3 }), b: integer({ maximum: 1 }), c: list(string(), { maxItems: 1 }), d: object({ e: string() }, { required: ['e'] }) }, { required: ['z'] }) }), [
    POST(at(), widget('W', { spec: { a: 'x', b: 5, c: ['1', 2], d: {} } }), { pick: causeLines }),
  ]),
  withCrd('crd-values-single-message', { section, about: 'the message of one error' }, crd({ spec: object({ a: string({ minLength: 3 }) }) }), [POST(at(), widget('w', { spec: { a: 'x' } }))]),
  withCrd('crd-values-blocking-errors', { section, about: 'rules are not run when the values are of the wrong type, missing, too long or too many' }, crd({ spec: object({ a: string({ maxLength: 3, minLength: 2 }), l: list(string(), { maxItems: 1 }), r: string(), e: string({ enum: ['x'] }) }, { required: ['r'], 'x-kubernetes-validations': [{ rule: 'self.r == "good"' }] }) }), [
    ...[{ r: 'bad', a: 'x' }, { r: 'bad', a: 'xxxx' }, { r: 'bad', l: ['1', '2'] }, { r: 'bad', e: 'y' }, { a: 'xx' }, { r: 5 }, { r: 'bad' }].map((spec) => POST(at(), widget('w', { spec }), { pick: causeLines })),
  ]),
  withCrd('crd-values-root', { section, about: 'errors at the root and in kind' }, crd({ schema: object({ spec: object(), kind: string({ minLength: 50 }) }, { required: ['spec'], 'x-kubernetes-validations': [{ rule: 'has(self.spec)' }] }) }), [POST(at(), widget('w'), { pick: causeLines }), POST(at(), widget('w', { spec: 'x' }), { pick: causeLines })]),
  withCrd('crd-values-odd-names', { section, about: 'field names with dots, slashes and spaces in paths' }, crd({ spec: object({ 'a.b': integer(), 'c/d': integer(), 'e f': object({ 'g-h': integer() }), $x: integer(), 'quo"te': integer() }) }), [POST(at(), widget('w', { spec: { 'a.b': 'x', 'c/d': 'x', 'e f': { 'g-h': 'x' }, $x: 'x', 'quo"te': 'x' } }), { pick: causeLines })]),
  ...Object.entries(floods).map(([id, spec]) => withCrd(`crd-values-flood-${id}`, { section, about: `which of very many warnings are sent: ${id.replaceAll('-', ' ')}` }, crd({ spec: object({ m: map(string()) }) }), [
    POST(at(), `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w"},"spec":{${spec}}}`, flooded),
    PATCH(at('w'), 'merge', `{"spec":{${spec}}}`, flooded),
  ])),
];

export default [...types, ...numbers, ...strings, ...containers, ...junctors, ...formatted, ...whole];
