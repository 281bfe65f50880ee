import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import type { Fields } from '../../api/object.ts'
import { valueOf } from '../../objects/cel/json-values.ts'
import { atOnce, inTurns } from '../../objects/cel/turns.ts'
import { dyn } from '../../objects/cel/types.ts'
import { compilePolicy } from './compile-policy.ts'
import { OVER_BUDGET } from './costs.ts'
import { type Evaluation, evaluatePolicy } from './evaluate-policy.ts'

function evaluate(spec: Fields, object: Fields = { data: { a: '1' } }): Promise<Evaluation> {
  const policy = atOnce((slice) => compilePolicy(spec, 33, slice))
  const input = {
    object: valueOf(object, dyn),
    oldObject: null,
    request: null,
    namespaceObject: null,
    params: undefined,
    authorizer: {},
  }
  return inTurns((slice) => evaluatePolicy(policy, input, { slice, tools: {}, nowMs: () => 0 }))
}

const failing = (more: Fields): Fields => ({ validations: [{ expression: 'false', ...more }] })

async function messageOf(spec: Fields): Promise<string> {
  const [decision] = (await evaluate(spec)).decisions
  return decision === undefined || decision.kind === 'admit' ? '' : decision.message
}

test('a denial has the message from messageExpression, or else from message, or else a message with the expression', async () => {
  assert.equal(await messageOf(failing({})), 'failed expression: false')
  assert.equal(await messageOf(failing({ message: ' given ' })), 'given')
  assert.equal(
    await messageOf(failing({ message: 'given', messageExpression: "' a is ' + object.data.a" })),
    'a is 1',
  )
  assert.equal(
    await messageOf(failing({ message: 'given', messageExpression: "'a\\nb'" })),
    'given',
  )
  assert.equal(
    await messageOf(failing({ message: 'given', messageExpression: 'string(object.data.b)' })),
    'given',
  )
})

const validated = (expression: string): Fields => ({
  variables: [
    { name: 'bad', expression: 'object.data.b' },
    { name: 'worse', expression: "variables.bad + 'x'" },
    { name: 'none', expression: 'null' },
  ],
  validations: [{ expression }],
})

test('a policy variable is evaluated only if it is used, and an error in a variable lists the chain of variables', async () => {
  assert.equal(await messageOf(validated("true || variables.bad == 'x'")), '')
  assert.equal(await messageOf(validated('variables.none == null')), '')
  assert.equal(
    await messageOf(validated("variables.worse == 'x'")),
    `expression 'variables.worse == 'x'' resulted in error: composited variable "worse" fails to evaluate: composited variable "bad" fails to evaluate: no such key: b`,
  )
})

const conditions = (...expressions: readonly string[]): Fields => ({
  ...failing({}),
  matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
})

const error = (name: string): string =>
  `expression 'object.${name} == 'x'' resulted in error: no such key: ${name}`

test('if a match condition is false, errors of other conditions are ignored; if none is false, all errors are reported together', async () => {
  assert.deepEqual(await evaluate(conditions("object.b == 'x'", 'false')), {
    decisions: [],
    times: [],
    annotations: [],
  })
  assert.equal(await messageOf(conditions('true')), 'failed expression: false')
  assert.equal(
    await messageOf(conditions("object.b == 'x'", "object.c == 'x'")),
    `[${error('b')}, ${error('c')}]`,
  )
})

test('string results of audit annotations are published, null and blank results are skipped, and errors are reported', async () => {
  const { annotations } = await evaluate({
    auditAnnotations: ["'v '", 'null', "' '", 'string(object.b)'].map((valueExpression, at) => ({
      key: `k${at}`,
      valueExpression,
    })),
  })
  assert.deepEqual(annotations, [
    { kind: 'publish', key: 'k0', value: 'v' },
    { kind: 'error', message: "expression 'string(object.b)' resulted in error: no such key: b" },
  ])
})

const many = { data: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'x'])) }
/** An expression whose cost is just below the limit for a single expression. */
const dear = "object.data.all(a, object.data.all(b, object.data.all(c, a != 'z')))"

test('if the cost budget of a policy is exceeded, all its decisions are discarded, and the event loop is not blocked', async () => {
  const validations = [
    { expression: 'false' },
    ...Array.from({ length: 20 }, () => ({ expression: dear })),
  ]
  let evaluation: Evaluation | undefined
  const turns = await turnsDuring(async () => {
    evaluation = await evaluate({ validations }, many)
  })
  assert.deepEqual(evaluation?.decisions, [{ kind: 'error', message: OVER_BUDGET }])
  assert.ok(turns > 20, `${turns} turns`)
})

const variables = (count: number): Fields => ({
  variables: Array.from({ length: count }, (_, at) => ({ name: `v${at}`, expression: dear })),
  validations: [
    { expression: Array.from({ length: count }, (_, at) => `variables.v${at}`).join(' && ') },
  ],
})

test('the cost of variables is charged to the policy, not to the expression that uses them', async () => {
  assert.deepEqual((await evaluate(variables(5), many)).decisions, [{ kind: 'admit' }])
  assert.deepEqual((await evaluate(variables(20), many)).decisions, [
    { kind: 'error', message: OVER_BUDGET },
  ])
})
