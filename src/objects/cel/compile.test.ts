import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile, OVER_BUDGET } from './compile.ts'
import { withVariables } from './environment.ts'
import { valueOf } from './json-values.ts'
import { kubernetesEnvironment } from './kubernetes.ts'
import { typeOfSchema } from './schema-type.ts'
import { CelError, typeNameOf } from './values.ts'

const schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    minReplicas: { type: 'integer' },
    name: { type: 'string', maxLength: 20 },
    tags: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 5 } },
  },
} as const
const type = typeOfSchema(schema, { name: 'self' })
assert(type !== undefined)
const environment = withVariables(kubernetesEnvironment({ release: 33, libraries: 32 }), {
  self: type,
})
const self = valueOf({ replicas: 3, minReplicas: 2, name: 'web', tags: ['a', 'b'] }, type)
assert(!(self instanceof CelError))

const given = self

/**
 * Returns the value of an expression, or its evaluation error, or the reason why it does not
 * compile.
 */
function evaluate(text: string, costMax = 1_000_000): string {
  const compiled = compile(text, environment)
  if ('fault' in compiled) return compiled.fault
  const result = compiled.program.evaluate({ self: given }, costMax)
  if ('error' in result) return result.error
  return typeof result.value === 'object' ? typeNameOf(result.value) : String(result.value)
}

test('a validation rule is evaluated against an object', () => {
  assert.equal(evaluate('self.minReplicas <= self.replicas'), 'true')
  assert.equal(evaluate('self.tags.all(x, x.size() == 1) && self.name.startsWith("w")'), 'true')
  assert.equal(evaluate('1 / (self.replicas - 3) == 1 || true'), 'true')
  assert.equal(evaluate('1 / (self.replicas - 3) == 1'), 'division by zero')
})

test('a compilation error shows its position', () => {
  assert.equal(
    evaluate('self.nope == 1'),
    "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^",
  )
})

test('an evaluation that exceeds its budget is canceled', () => {
  assert.equal(
    evaluate('[1, 2, 3].map(x, [1, 2, 3].map(y, x + y)).size() == 3', 50),
    'operation cancelled: actual cost limit exceeded',
  )
})

test('malicious expressions are rejected or have a limited running time', () => {
  const start = process.threadCpuUsage()
  assert.match(
    evaluate('('.repeat(5000) + 'true' + ')'.repeat(5000)),
    /recursion limit exceeded: 250/,
  )
  assert.match(evaluate('x'.repeat(100_001)), /code point size exceeds limit/)
  assert.match(evaluate('!'.repeat(20_000) + ')'), /Syntax error/)
  assert.equal(evaluate('"a" + '.repeat(200) + '"a" != ""'), 'true')
  assert.equal(evaluate('true || '.repeat(10_000) + 'false'), 'true')
  assert.equal(evaluate(`"${'a'.repeat(10_000)}".matches("(a*)*b")`), 'false')
  assert.match(evaluate('self.__proto__ == 1'), /undefined field/)
  assert.match(evaluate('{"a": 1}.constructor == 1'), /no such key: constructor/)
  const deep = `${'('.repeat(110)}1${`${' + 1'.repeat(110)})`.repeat(110)} > 0`
  assert.match(evaluate(deep), /recursion limit exceeded: 600/)
  const doubling = `optional.of(1)${'.optMap(x, x)'.repeat(50)}.hasValue()`
  assert.equal(evaluate(doubling), OVER_BUDGET)
  const longer = `'a'${`.replace('a', '${'a'.repeat(300)}')`.repeat(2)}`
  assert.equal(
    evaluate(
      `[${`${longer},`.repeat(60)}].map(x, [x, x, x, x].join(x).replace('', 'aaaa').size() > 0).size() == 60`,
    ),
    OVER_BUDGET,
  )
  const bomb = '[0,1,2,3,4,5,6,7,8,9]'
  assert.match(evaluate(`${`${bomb}.all(a, `.repeat(8)}true${')'.repeat(8)}`), /actual cost limit/)
  // Measures the CPU time of this thread, because other tests can run at the same time.
  assert(process.threadCpuUsage(start).user < 15_000_000)
})

/**
 * Returns the compilation errors of an expression that consists of one line with this number of
 * characters.
 */
function faultsIn(characters: number): string {
  const compiled = compile(`${' '.repeat(characters - 7)}a1 + b1`, environment)
  return 'fault' in compiled ? compiled.fault : ''
}

test('compilation errors do not show a very long line', () => {
  assert.equal(faultsIn(16_384).split('\n').length, 6)
  assert.equal(
    faultsIn(16_385),
    "ERROR: <input>:1:16379: undeclared reference to 'a1' (in container '')\n" +
      "ERROR: <input>:1:16384: undeclared reference to 'b1' (in container '')",
  )
})

test('an optional map entry whose value is not optional has the type of the value', () => {
  assert.match(
    evaluate("{?'a': b'x'} != {'a': 1}"),
    /found no matching overload for '_!=_' applied to '\(map\(string, bytes\), map\(string, int\)\)'/,
  )
})

test('error messages show type(type(dyn)) for the type of an unknown type, and type(type) for the identifier type', () => {
  assert.match(evaluate('type(type(a.b)) + 1'), /'\(type\(type\(dyn\)\), int\)'/)
  assert.match(evaluate('type + 1'), /'\(type\(type\), int\)'/)
})

test('a list that contains a timestamp and null has the type list(null)', () => {
  assert.match(
    evaluate("[timestamp('2020-01-01T00:00:00Z'), null].b"),
    /type 'list\(null\)' does not support field selection/,
  )
})

test('an error about wrong arguments names the function and the types of the arguments', () => {
  assert.equal(evaluate("dyn(null).indexOf('x')"), 'no such overload: indexOf(null_type, string)')
  assert.equal(evaluate('dyn(null) + 1'), 'no such overload: _+_')
  assert.equal(evaluate('1 + dyn(null)'), 'no such overload')
  assert.equal(evaluate("dyn(null).startsWith('x')"), 'no such overload')
})
