import { equal, deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS_MAX } from '../../../api/field-fault.ts'
import type { Fields, Json } from '../../../api/object.ts'
import type { Turns } from '../../cel/turns.ts'
import { setDefaults } from './defaults.ts'
import { validateLists } from './list-types.ts'
import { pruneObject } from './prune.ts'
import { readStructural } from './read-structural.ts'
import { validateValues } from './validate.ts'

const schemaOf = (v: Json) =>
  readStructural({
    type: 'object',
    properties: { spec: { type: 'object', properties: { v, b: { type: 'string' } } } },
  })
const slice = { isOver: () => false }
const lines = (v: Json, value: Json, old?: Json) => {
  const before = old === undefined ? {} : { old: { spec: { v: old } } }
  const faults = atOnce(validateValues({ spec: { v: value } }, schemaOf(v), { ...before, slice }))
  return faults.map(({ path, reason, message }) => `${path}: ${reason}: ${message}`)
}

function atOnce<T>(turns: Turns<T>): T {
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    value?.resume(value.question.answer())
  }
}

const cases: readonly (readonly [string, Json, Json, readonly string[]])[] = [
  [
    'a value of the wrong type is rejected',
    { type: 'integer' },
    '5',
    [
      'spec.v: FieldValueTypeInvalid: Invalid value: "string": spec.v in body must be of type integer: "string"',
    ],
  ],
  ['the largest int64 is an integer', { type: 'integer' }, 9223372036854775807n, []],
  [
    'a whole number beyond 64 bits is not an integer',
    { type: 'integer' },
    9223372036854775808n,
    [
      'spec.v: FieldValueTypeInvalid: Invalid value: "number": spec.v in body must be of type integer: "number"',
    ],
  ],
  [
    'a number slightly above an integer counts as an integer',
    { type: 'integer' },
    4294967296.5,
    [],
  ],
  [
    'a negative number near an integer does not count as an integer',
    { type: 'integer' },
    -4294967296.5,
    [
      'spec.v: FieldValueTypeInvalid: Invalid value: "number": spec.v in body must be of type integer: "number"',
    ],
  ],
  ['null is accepted for a nullable field', { type: 'string', nullable: true }, null, []],
  [
    'an error of both the value and an alternative is reported once',
    { type: 'integer', maximum: 5, anyOf: [{ maximum: 5 }, { maximum: 4 }] },
    7,
    [
      '<nil>: FieldValueInvalid: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
      'spec.v: FieldValueInvalid: Invalid value: 7: spec.v in body should be less than or equal to 5',
    ],
  ],
  ['maxLength counts code points', { type: 'string', maxLength: 3 }, '😀😀😀', []],
  [
    'a list with too many items is rejected',
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a', 'b'],
    ['spec.v: FieldValueTooMany: Too many: 2: must have at most 1 items'],
  ],
  [
    'an error in a nested list has the full path',
    { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    [[1], [2, 'b']],
    [
      'spec.v[1][1]: FieldValueTypeInvalid: Invalid value: "string": spec.v[1][1] in body must be of type integer: "string"',
    ],
  ],
  [
    'large limits are printed as Go floats',
    { type: 'number', maximum: 1e21 },
    1e22,
    [
      'spec.v: FieldValueInvalid: Invalid value: 1e+22: spec.v in body should be less than or equal to 1e+21',
    ],
  ],
  [
    'anyOf reports the errors of one alternative',
    { type: 'integer', anyOf: [{ minimum: 10 }, { multipleOf: 2 }] },
    5,
    [
      '<nil>: FieldValueInvalid: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
      'spec.v: FieldValueInvalid: Invalid value: 5: spec.v in body should be greater than or equal to 10',
    ],
  ],
  [
    'a limit beyond int64 becomes the smallest int64',
    { type: 'integer', maximum: 9223372036854775807n, multipleOf: 9007199254740993n },
    5,
    [
      'spec.v: FieldValueInvalid: Invalid value: 5: spec.v in body should be a multiple of 9007199254740992',
      'spec.v: FieldValueInvalid: Invalid value: 5: spec.v in body should be less than or equal to -9223372036854775808',
    ],
  ],
  [
    'too many fields are reported together with the errors in them',
    {
      type: 'object',
      maxProperties: 1,
      properties: { a: { type: 'object', minProperties: 1 }, b: { type: 'string' } },
    },
    { a: {}, b: '' },
    [
      'spec.v: FieldValueTooMany: Too many: 2: must have at most 1 items',
      'spec.v.a: FieldValueInvalid: Invalid value: 0: spec.v.a in body should have at least 1 properties',
    ],
  ],
  [
    'a type error of a value with a format names the format and the Go type',
    { type: 'string', format: 'date-time' },
    5,
    [
      'spec.v: FieldValueTypeInvalid: Invalid value: "int64": spec.v in body must be of type date-time: "int64"',
    ],
  ],
  [
    'a format without a type rejects an object',
    { type: 'object', anyOf: [{ format: 'ipv4' }], 'x-kubernetes-preserve-unknown-fields': true },
    {},
    [
      '<nil>: FieldValueInvalid: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
      'spec.v: FieldValueTypeInvalid: Invalid value: "": spec.v in body must be of type ipv4: ""',
    ],
  ],
  [
    'additionalProperties: false forbids other fields',
    { type: 'object', additionalProperties: false, 'x-kubernetes-preserve-unknown-fields': true },
    { id: 1 },
    ['spec.v: FieldValueInvalid: Invalid value: "id": spec.v.id in body is a forbidden property'],
  ],
]

for (const [name, schema, value, wanted] of cases) {
  test(`a value is validated by its schema: ${name}`, () => deepEqual(lines(schema, value), wanted))
}

test('an invalid value in a custom object is tolerated if an update does not change it', () => {
  deepEqual(lines({ type: 'string', minLength: 3 }, 'x', 'x'), [])
  equal(lines({ type: 'string', minLength: 3 }, 'y', 'x').length, 1)
})

test('pruning drops unknown fields and returns their paths', () => {
  const schema = schemaOf({
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' } } },
  })
  const given: Fields = { kind: 'W', spec: { v: [{ k: '1', z: 1 }, { z: 2 }], z: 3 }, x: 1 }
  const { value, unknown } = pruneObject(given, schema)
  equal(JSON.stringify(value), '{"kind":"W","spec":{"v":[{"k":"1"},{}]}}')
  deepEqual(unknown, ['spec.v[0].z', 'spec.v[1].z', 'spec.z', 'x'])
})

test('names of inherited JavaScript properties are handled like other field names', () => {
  const properties = JSON.parse(
    '{"__proto__": {"type":"string","default":"x"}, "constructor": {"type":"integer"}}',
  )
  const schema = readStructural({ type: 'object', properties, required: ['toString'] })
  const value = JSON.parse('{"__proto__": null, "constructor": "a", "hasOwnProperty": 1}')
  const defaulted = setDefaults(value, schema)
  equal(
    JSON.stringify(pruneObject(JSON.parse(JSON.stringify(defaulted)), schema).value),
    '{"__proto__":"x","constructor":"a"}',
  )
  deepEqual(
    atOnce(validateValues(defaulted, schema, { slice })).map(({ path }) => path),
    ['constructor', 'toString'],
  )
})

test('each repeated item of a set is reported once', () => {
  const schema = schemaOf({
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-list-type': 'set',
  })
  const faults = atOnce(
    validateLists({ spec: { v: ['a', 'a', 'a', 'b', 'b'] } }, schema, { slice }),
  )
  deepEqual(
    faults.map(({ path, message }) => `${path}: ${message}`),
    ['spec.v[1]: Duplicate value: "a"', 'spec.v[4]: Duplicate value: "b"'],
  )
})

test('a pattern that would backtrack exponentially in other regex engines is matched quickly', () => {
  const start = process.threadCpuUsage()
  equal(lines({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}b`).length, 1)
  ok(process.threadCpuUsage(start).user < 10_000_000)
})

test('each string that takes a long time to match is deferred once, and validation yields between such strings', () => {
  const schema = schemaOf({
    type: 'array',
    items: { type: 'string', pattern: '^(?:a|b|[^c]){0,200}$' },
  })
  const long = ['b'.repeat(1_000), 'a'.repeat(1_000), 'c'.repeat(1_000)]
  const value = {
    spec: { v: [...Array.from({ length: 200 }, (_, at) => `short${at}`), ...long, ...long] },
  }
  const turns = validateValues(value, schema, { slice: { isOver: () => true } })
  let [asked, turnsGiven] = [0, 0]
  for (;;) {
    const { done, value: turn } = turns.next()
    if (done === true) {
      deepEqual(
        turn.map(({ path }) => path),
        [200, 201, 202, 203, 204, 205].map((at) => `spec.v[${at}]`),
      )
      break
    }
    if (turn === undefined) turnsGiven++
    else {
      asked++
      turn.resume(turn.question.answer())
    }
  }
  equal(asked, 3)
  ok(turnsGiven >= 100)
})

test('the pattern matches of all strings in a value together have the budget of a single match', () => {
  const schema = schemaOf({
    type: 'array',
    items: { type: 'string', pattern: '(?:a|b|[^c]){200}' },
  })
  const value = {
    spec: { v: Array.from({ length: 100 }, (_, at) => `${at}${'b'.repeat(10_000)}`) },
  }
  const turns = validateValues(value, schema, { slice })
  let asked = 0
  for (;;) {
    const { done, value: turn } = turns.next()
    if (done === true) {
      equal(turn.length, 100 - asked)
      break
    }
    asked++
    turn?.resume(true)
  }
  ok(asked < 11)
})

const counted = <T>(turns: Turns<T>): { readonly result: T; readonly given: number } => {
  for (let given = 0; ; given++) {
    const { done, value } = turns.next()
    if (done === true) return { result: value, given }
  }
}

test('validation stops at the maximum number of reported errors', () => {
  const required = Array.from({ length: 30_000 }, (_, at) => `p${at}`)
  const schema = schemaOf({ type: 'array', items: { type: 'object', required } })
  const value = { spec: { v: Array.from({ length: 100_000 }, () => ({})) } }
  equal(atOnce(validateValues(value, schema, { slice })).length, FAULTS_MAX)
})

test('tolerated errors do not count toward the maximum number of reported errors', () => {
  const items = {
    type: 'object',
    properties: { n: { type: 'string' }, a: { type: 'array', items: { type: 'integer' } } },
  }
  const list = {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['n'],
  }
  const bad = Array.from({ length: 2 * FAULTS_MAX }, () => 'x')
  const old = { spec: { v: [{ n: '1', a: bad }] } }
  const value = {
    spec: {
      v: [
        { n: '1', a: bad },
        { n: '2', a: ['y'] },
      ],
    },
  }
  const faults = atOnce(validateValues(value, schemaOf(list), { old, slice }))
  deepEqual(
    faults.map(({ path }) => path),
    ['spec.v[1].a[0]'],
  )
})

test('validation of a large value yields to other work between its items and between the alternatives of its schema', () => {
  const one = { type: 'integer', maximum: 1 }
  const value = { spec: { v: Array.from({ length: 10_000 }, (_, at) => at % 2) } }
  const busy = { isOver: () => true }
  const plain = counted(
    validateValues(value, schemaOf({ type: 'array', items: one }), { slice: busy }),
  )
  deepEqual(plain.result, [])
  ok(plain.given > 100, `${plain.given} turns`)
  const junctors = {
    anyOf: [{ maximum: -1 }, { not: { minimum: 2 } }],
    oneOf: [{ maximum: 1 }, { minimum: 2 }],
  }
  const items = { ...one, ...junctors, allOf: [{ minimum: 0 }] }
  const tried = counted(validateValues(value, schemaOf({ type: 'array', items }), { slice: busy }))
  deepEqual(tried.result, [])
  ok(tried.given > 40_000, `${tried.given} turns`)
})

test('a value that is too large for the fast validation of not and oneOf is still validated by both', () => {
  const value = { spec: { v: Array.from({ length: 10_000 }, () => 1) } }
  const inner = { type: 'array', items: { type: 'integer' } }
  for (const v of [
    { ...inner, not: { items: { maximum: 1 } } },
    { ...inner, oneOf: [{}, { items: { maximum: 1 } }] },
  ]) {
    equal(atOnce(validateValues(value, schemaOf(v), { slice })).length, 1)
  }
})

test('a large number and a string with the same digits are different enum values', () => {
  const large = 2n ** 60n
  const properties = {
    n: { enum: [large] },
    t: { enum: [`${large}n`] },
    s: { enum: [`n${large}`] },
  }
  const schema = readStructural({ type: 'object', properties })
  deepEqual(
    atOnce(validateValues({ n: large, t: `${large}n`, s: `n${large}` }, schema, { slice })),
    [],
  )
})

const keyed = (items: Json): Json => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['n'],
})

test('validation of a long list with keys yields while its items are matched with the old items and while they are validated', () => {
  const items = {
    type: 'object',
    properties: { n: { type: 'integer' }, l: { type: 'array', items: { maximum: -1 } } },
  }
  const list = Array.from({ length: 10_000 }, (_, n) => ({ n }))
  const busy = { isOver: () => true }
  const given = (value: Json, old: Json) =>
    counted(
      validateValues({ spec: { v: value } }, schemaOf(keyed(items)), {
        old: { spec: { v: old } },
        slice: busy,
      }),
    )
  // There is one yield per item. During an update, there is another one for every 64 items of both
  // lists.
  const [fresh, updated] = [given(list, null), given(list, list)]
  ok(updated.given - fresh.given >= 300, `${fresh.given} and ${updated.given} turns`)
  const bad = [...list, { n: -1, l: Array.from({ length: 10_000 }, () => 0) }]
  const other = [
    ...list,
    { n: -1, l: Array.from({ length: 10_000 }, (_, at) => (at < 9_999 ? 0 : -2)) },
  ]
  const forgiven = given(bad, structuredClone(bad))
  deepEqual(forgiven.result, [])
  const changed = given(bad, other)
  equal(changed.result.length, FAULTS_MAX)
  ok(changed.given - updated.given >= 150, `${updated.given} and ${changed.given} turns`)
})

test('comparing the items of a set yields to other work even within a single large item', () => {
  const set = {
    type: 'array',
    items: { type: 'array', items: {} },
    'x-kubernetes-list-type': 'set',
  }
  const item = Array.from({ length: 10_000 }, (_, at) => ({ at }))
  const busy = { isOver: () => true }
  const { result, given } = counted(
    validateLists({ spec: { v: [item, [], item] } }, schemaOf(set), { slice: busy }),
  )
  equal(result.length, 1)
  ok(given >= 300, `${given} turns`)
})
