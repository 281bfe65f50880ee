import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json } from '../../api/object.ts'
import { compile } from './compile.ts'
import { withVariables } from './environment.ts'
import { valueOf } from './json-values.ts'
import { kubernetesEnvironment, storedVersion } from './kubernetes.ts'
import { typeOfSchema } from './schema-type.ts'
import { dyn } from './types.ts'
import { CelError } from './values.ts'

const string: Fields = { type: 'string' }
const schema: Fields = {
  type: 'object',
  properties: {
    text: string,
    number: { type: 'integer' },
    double: { type: 'number' },
    time: { type: 'string', format: 'date-time' },
    list: { type: 'array', items: string },
    set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    sets: {
      type: 'array',
      items: { type: 'array', items: string },
      'x-kubernetes-list-type': 'set',
    },
    map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } },
    any: { 'x-kubernetes-int-or-string': true },
    keyed: {
      type: 'array',
      items: {
        type: 'object',
        properties: { key: string, any: { 'x-kubernetes-int-or-string': true } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
    },
  },
}

function areEqual(one: Json, other: Json, expression = 'self == other'): unknown {
  const type = typeOfSchema(schema, { name: 'self' })
  assert(type !== undefined)
  const compiled = compile(
    expression,
    withVariables(kubernetesEnvironment(storedVersion(33)), { self: type, other: type }),
  )
  assert('program' in compiled)
  const [self, against] = [valueOf(one, type), valueOf(other, type)]
  assert(!(self instanceof CelError) && !(against instanceof CelError))
  const result = compiled.program.evaluate({ self, other: against }, 1_000_000)
  return 'value' in result ? result.value : result.error
}

const cases: readonly (readonly [Json, Json, boolean])[] = [
  [{}, {}, true],
  [{ text: 'a' }, { text: 'a' }, true],
  [{ text: 'a' }, { text: 'b' }, false],
  [{ text: 'a' }, {}, false],
  [{}, { text: 'a' }, false],
  [{ text: null }, {}, true],
  [{ unknown: 1 }, { unknown: 2 }, true],
  [{ number: 1 }, { number: 1n }, true],
  [{ number: 9_007_199_254_740_993n }, { number: 9_007_199_254_740_992 }, false],
  [{ double: 1.5 }, { double: 1.5 }, true],
  [{ double: 1 }, { double: 1n }, true],
  [{ double: 1.5 }, { double: 1 }, false],
  [{ time: '2026-01-01T00:00:00Z' }, { time: '2026-01-01T01:00:00+01:00' }, true],
  [{ time: '2026-01-01T00:00:00Z' }, { time: '2026-01-01T00:00:01Z' }, false],
  [{ list: ['a', 'b'] }, { list: ['a', 'b'] }, true],
  [{ list: ['a', 'b'] }, { list: ['b', 'a'] }, false],
  [{ list: ['a', null] }, { list: ['a', null] }, true],
  [{ list: ['a'] }, { list: ['a', 'b'] }, false],
  [{ set: ['a', 'b'] }, { set: ['b', 'a'] }, true],
  [{ set: ['a', 'b'] }, { set: ['b', 'c'] }, false],
  [{ map: { a: [1], b: [] } }, { map: { b: [], a: [1] } }, true],
  [{ map: { a: [1] } }, { map: { a: [2] } }, false],
  [{ map: { a: [1] } }, { map: { b: [1] } }, false],
  [{ map: { a: [1] } }, { map: { a: [1], b: [1] } }, false],
  [JSON.parse('{"map":{"__proto__":[1]}}'), { map: {} }, false],
  [{ any: 1 }, { any: '1' }, false],
  [{ any: 'a' }, { any: 'a' }, true],
  [{ text: 'a', set: ['a', 'b'], list: ['c'] }, { text: 'a', set: ['b', 'a'], list: ['d'] }, false],
]

for (const [one, other, isEqual] of cases) {
  const shown = [one, other].map((json) =>
    JSON.stringify(json, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
  )
  test(shown.join(isEqual ? ' equals ' : ' does not equal '), () => {
    assert.equal(areEqual(one, other), isEqual)
    assert.equal(areEqual(other, one), isEqual)
  })
}

const keyed = (any: Json): Json => ({ keyed: [{ key: 'a', any }] })

test('in a list with keys, comparing values whose types cannot be compared is an error, as in other lists', () => {
  const compared = 'self.keyed == other.keyed'
  assert.equal(areEqual(keyed([1]), keyed(1), compared), 'no such overload')
  assert.equal(areEqual(keyed(1), keyed('x'), compared), false)
})

const sets = (...lists: readonly string[][]): Json => ({ sets: lists })

test('a set can contain lists', () => {
  assert.equal(areEqual(sets(['a'], ['b']), sets(['b'], ['a'])), true)
  assert.equal(areEqual(sets(['a'], ['b']), sets(['b'], ['c'])), false)
})

const untyped: readonly (readonly [Json, Json, unknown])[] = [
  [{ a: { b: ['x', 1, 1.5, true, null] } }, { a: { b: ['x', 1, 1.5, true, null] } }, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1n }, true],
  [{ a: 9_007_199_254_740_993n }, { a: 9_007_199_254_740_992 }, false],
  [{ a: 1.5 }, { a: 1 }, false],
  [{ a: 1 }, { a: '1' }, false],
  [{ a: null }, { a: false }, false],
  [{ a: null }, {}, false],
  [{ a: 'x' }, { b: 'x' }, false],
  [{ a: 'x' }, { a: ['x'] }, false],
  [{ a: null }, { a: [] }, false],
  [{ a: ['x'] }, { a: null }, false],
  [{ a: ['x', 'y'] }, { a: ['y', 'x'] }, false],
  [{ a: ['x'] }, { a: 'x' }, 'no such overload'],
  [{ a: {} }, { a: [] }, 'no such overload'],
  [{ a: 1, b: {} }, { a: 2, b: [] }, false],
]

/** Compares two values like `object == oldObject` in a policy, where the types are unknown. */
function areEqualUntyped(one: Json, other: Json): unknown {
  const compiled = compile(
    'self == other',
    withVariables(kubernetesEnvironment(storedVersion(33)), { self: dyn, other: dyn }),
  )
  assert('program' in compiled)
  const result = compiled.program.evaluate(
    { self: valueOf(one, dyn), other: valueOf(other, dyn) },
    1_000_000_000,
  )
  return 'value' in result ? result.value : result.error
}

for (const [at, [one, other, expected]] of untyped.entries()) {
  test(`comparison ${at} of untyped values returns ${String(expected)}`, () =>
    assert.equal(areEqualUntyped(one, other), expected))
}

const large = (): Json => ({ spec: { items: Array.from({ length: 700_000 }, () => 1) } })

test('comparing large untyped objects as JSON does not exceed the limit of one call', () => {
  assert.equal(areEqualUntyped(large(), large()), true)
})
