import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json } from '../../api/object.ts'
import { compile, OVER_BUDGET } from './compile.ts'
import { withVariables } from './environment.ts'
import { valueOf } from './json-values.ts'
import { kubernetesEnvironment, storedVersion } from './kubernetes.ts'
import { typeOfSchema } from './schema-type.ts'
import { atOnce } from './turns.ts'
import { dyn, type Type } from './types.ts'
import { CelError } from './values.ts'

const integer: Fields = { type: 'integer' }
const text: Fields = { type: 'string', maxLength: 20 }
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const texts = (count: number): Json[] =>
  numbers(count).map((at) => `item-${String(at).padStart(6, '0')}`)

function runOver(rule: string, items: Fields, values: Json[]): string {
  const type = typeOfSchema({ type: 'array', maxItems: 1000, items }, { name: 'self' })
  assert(type !== undefined)
  const compiled = compile(
    rule,
    withVariables(kubernetesEnvironment({ release: 33, libraries: 32 }), { self: type }),
  )
  assert('program' in compiled)
  const self = valueOf(values, type)
  assert(!(self instanceof CelError))
  const result = compiled.program.evaluate({ self }, 1_000_000)
  return 'error' in result ? result.error : String(result.value === true)
}

/**
 * The length of the longest list for which each rule stays within kube-apiserver's cost limit of
 * one million. The lengths were measured with kube-apiserver.
 */
const boundaries: readonly (readonly [string, number, 'numbers' | 'texts'])[] = [
  ['self.all(x, self.all(y, x + y >= 0))', 377, 'numbers'],
  ['self.map(x, self.filter(y, y > x).size()).size() >= 0', 323, 'numbers'],
  ['self.all(x, self.all(y, x.size() + y.size() > 0))', 333, 'texts'],
  ['self.all(x, self.all(y, x.startsWith("item") && y.contains("item")))', 333, 'texts'],
  ['self.all(x, self.all(i, y, i >= 0))', 446, 'numbers'],
  ['self.all(x, self.all(y, x.matches("^item-[0-9]+$")))', 288, 'texts'],
  ['self.all(x, self.all(y, string(x) != "z" && int(string(y)) >= 0))', 315, 'numbers'],
]

for (const [rule, count, kind] of boundaries) {
  test(`${rule} stays within its budget for up to ${count} items`, () => {
    const [items, values] = kind === 'numbers' ? [integer, numbers] : [text, texts]
    assert.equal(runOver(rule, items, values(count)), 'true')
    assert.equal(runOver(rule, items, values(count + 1)), OVER_BUDGET)
  })
}

const object = typeOfSchema({ type: 'object', properties: { text } }, { name: 'self' })

/** Rules with values whose type does not limit their size. */
const estimates: readonly (readonly [string, number])[] = [
  ['dyn(1) == dyn("1")', 3],
  ['self.text.split(",").all(x, x.trim() != "")', 339],
]

for (const [rule, cost] of estimates) {
  test(`the cost of ${rule} is estimated at ${cost}`, () => {
    assert(object !== undefined)
    const compiled = compile(
      rule,
      withVariables(kubernetesEnvironment({ release: 33, libraries: 32 }), { self: object }),
    )
    assert('program' in compiled)
    assert.equal(atOnce((slice) => compiled.program.estimateCost(object, slice)).max, BigInt(cost))
  })
}

/**
 * Rules with values of unknown size. As in kube-apiserver, their costs are unsigned 64-bit
 * integers, which overflow.
 */
const unknown: readonly (readonly [string, bigint])[] = [
  ['type(1) == type(2)', 1_844_674_407_370_955_266n],
  ["strings.quote('%s'.format([1])).find('a')", 1_844_674_407_370_955_276n],
]

for (const [rule, cost] of unknown) {
  test(`the cost of ${rule} is estimated at ${cost}`, () => {
    assert(object !== undefined)
    const compiled = compile(rule, kubernetesEnvironment({ release: 33, libraries: 32 }))
    assert('program' in compiled)
    assert.equal(atOnce((slice) => compiled.program.estimateCost(object, slice)).max, cost)
  })
}

test('since 1.37, the global function matches costs as much as the member function', () => {
  assert.ok(object !== undefined)
  const self = object
  const costs = (release: number) =>
    ["self.text.matches('a+')", "matches(self.text, 'a+')"].map((rule) => {
      const environment = withVariables(kubernetesEnvironment(storedVersion(release)), {
        self,
      })
      const compiled = compile(rule, environment)
      assert.ok('program' in compiled)
      return atOnce((slice) => compiled.program.estimateCost(self, slice)).max
    })
  const [member36, global36] = costs(36)
  const [member37, global37] = costs(37)
  assert.ok(global36 !== undefined && member36 !== undefined && global36 < member36)
  assert.equal(member37, member36)
  assert.equal(global37, member37)
})

const startsWithCost = (release: number) => {
  const environment = withVariables(kubernetesEnvironment(storedVersion(release)), { v: dyn })
  const compiled = compile("v.startsWith('x')", environment)
  assert.ok('program' in compiled)
  const { program } = compiled
  return atOnce((slice) => program.inTurns({ v: 'x'.repeat(1_000) }, 10_000, slice)).cost
}

test('since 1.37, the cost of startsWith depends on the length of the prefix instead of the whole text', () => {
  assert.deepEqual([startsWithCost(36), startsWithCost(37)], [101, 2])
})

test('a function that visits the strings of a list costs a tenth of their bytes, rounded down', () => {
  const items = ['aaaa', 'b'.repeat(25), 'ü'.repeat(10)]
  const type: Type = { kind: 'list', element: { kind: 'string', sizeMax: 100 }, sizeMax: 3 }
  const environment = withVariables(kubernetesEnvironment(storedVersion(33)), { v: type })
  const compiled = compile('v.isSorted()', environment)
  assert.ok('program' in compiled)
  const variables = { v: valueOf(items, type) }
  const { cost } = atOnce((slice) => compiled.program.inTurns(variables, 10_000, slice))
  assert.equal(cost, 1 + 0 + 2 + 2)
})
