/**
 * Generates CEL validation rules of CustomResourceDefinitions. Tests whether they compile, their
 * estimated cost, and their results on objects.
 */
import { isRecord, type Json, type JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { causesOf } from '../compare.ts'
import { broken, Expressions, type Scope } from '../expressions.ts'
import { textAt } from '../json-positions.ts'
import type { Answer, Case } from '../step.ts'
import { type Input, patchTypes } from './input.ts'
import { policyCase } from './policies.ts'
import { DEFINITIONS, definitionOf, WIDGETS } from './widgets.ts'

export const scope: Scope = [
  ['self.i', 'int'],
  ['self.j', 'int'],
  ['self.s', 'string'],
  ['self.t', 'string'],
  ['self.b', 'bool'],
  ['self.d', 'double'],
  ['self.l', 'list<int>'],
  ['self.ls', 'list<string>'],
  ['self.set', 'list<string>'],
  ['self.m', 'map<string,int>'],
  ['self.o.a', 'int'],
  ['self.o.b', 'string'],
  ['self.ts', 'timestamp'],
  ['self.du', 'duration'],
  ['self.by', 'bytes'],
  ['self.?i', 'optional<int>'],
  ['self.lm[0].v', 'int'],
  ['self.lm.map(q, q.k)', 'list<string>'],
  ['self.e', 'string'],
  ['self.ios', 'dyn'],
]

/**
 * Number of CustomResourceDefinitions that are sent as dry runs, each with different rules.
 * Afterwards one definition is stored, with the rules that both servers accepted. Only one is
 * stored, because a new definition is not served immediately.
 */
const TRIED_MAX = 3
const RULES_MAX = 40

export function* celCase(choices: Choices, input: Input): Case {
  if (choices.chance(0.25)) return yield* policyCase(choices, input)
  const properties = propertiesOf(choices)
  const body = (list: JsonObject[]): JsonObject =>
    definitionOf({ spec: { type: 'object', properties, 'x-kubernetes-validations': list } })
  const good: JsonObject[] = []
  for (let tries = 0; tries < TRIED_MAX; tries++) {
    const rules = makeRules(choices, input)
    const query = { dryRun: 'All' }
    const tried = yield {
      id: `d${tries}`,
      method: 'POST',
      path: DEFINITIONS,
      query,
      body: body(rules),
    }
    const bad = new Set([...refusedRules(tried), ...refusedRules(tried.keelson)])
    good.push(...rules.filter((_, index) => !bad.has(index)))
  }
  // All rules together might exceed the cost limit of a schema. If the definition is rejected, try
  // again with half of the rules.
  let made: Answer | undefined
  for (
    let count = Math.min(good.length, RULES_MAX);
    made?.status !== 201;
    count = Math.floor(count / 2)
  ) {
    if (count === 0) return
    made = yield {
      id: `s${count}`,
      method: 'POST',
      path: DEFINITIONS,
      body: body(good.slice(0, count)),
    }
  }
  yield { id: 'w', method: 'GET', path: WIDGETS, wait: true }
  const widget = (name: string): JsonObject => ({
    apiVersion: '$ns.example.com/v1',
    kind: 'Widget',
    metadata: { name },
    spec: makeSpec(choices),
  })
  for (let index = 0; index < 12; index++)
    yield {
      id: `x${index}`,
      method: 'POST',
      path: WIDGETS,
      query: { dryRun: 'All' },
      body: widget(`x${index}`),
    }
  const stored: Answer = yield { id: 'x', method: 'POST', path: WIDGETS, body: widget('x') }
  for (let index = 0; stored.status === 201 && index < 3; index++)
    yield {
      id: `p${index}`,
      method: 'PATCH',
      path: `${WIDGETS}/x`,
      type: patchTypes.merge,
      body: { spec: makeSpec(choices) },
    }
}

/**
 * Checks that both servers estimate exactly the same cost of a rule. Each rule can run often enough
 * to exceed the cost limit. The error message then contains the factor by which the cost exceeds
 * the limit.
 */
export function* costCase(choices: Choices, { grammar }: Input): Case {
  const plain = scope.filter(([text]) => !text.includes('?'))
  for (let index = 0; index < 3; index++) {
    const expressions = new Expressions(choices, grammar, plain, { wrong: 0 })
    const rules = Array.from({ length: choices.between(8, 16) }, () => ({
      rule: expressions.make('bool', choices.weigh([4, 1], [3, 2], [0.5, 3])),
      ...(choices.chance(0.15)
        ? { messageExpression: expressions.make('string', choices.between(1, 2)) }
        : {}),
    }))
    const items = {
      type: 'object',
      properties: propertiesOf(choices),
      'x-kubernetes-validations': rules,
    }
    const many = {
      type: 'array',
      maxItems: choices.pick([1_000_000, 1_000_000, 100_000, 10_000]),
      items,
    }
    const body = definitionOf({ spec: { type: 'object', properties: { many } } })
    yield { id: `s${index}`, method: 'POST', path: DEFINITIONS, query: { dryRun: 'All' }, body }
  }
}

/** Generates random rules. Half of them always fail and show a value in their message. */
function makeRules(choices: Choices, { grammar }: Input): JsonObject[] {
  const expressions = new Expressions(choices, grammar, scope)
  const rules = Array.from({ length: choices.between(8, 20) }, () => {
    const depth = choices.weigh([4, 1], [4, 2], [1, 3])
    if (choices.chance(0.5)) return showing(choices, expressions, depth)
    const rule = expressions.make('bool', depth)
    return {
      rule: choices.chance(0.08) ? broken(choices, rule) : rule,
      ...ruleOptions(choices, expressions),
    }
  })
  if (choices.chance(0.7)) return rules
  const transition = choices.pick(transitions)
  return [...rules, { rule: transition, ...(choices.chance(0.5) ? { optionalOldSelf: true } : {}) }]
}

const transitions = [
  'self.i >= oldSelf.i',
  'oldSelf.hasValue() ? oldSelf.value().i <= self.i : true',
  'self.l.all(x, x in oldSelf.l)',
  'self == oldSelf',
]

function showing(choices: Choices, expressions: Expressions, depth: number): JsonObject {
  const value = choices.chance(0.8)
    ? expressions.make(expressions.ofSet('printed'), depth)
    : `string(${expressions.make(expressions.ofSet('shown'), depth)})`
  return { rule: 'false', messageExpression: `'=%s'.format([${value}])`, message: 'no value' }
}

const reasons = [
  'FieldValueInvalid',
  'FieldValueForbidden',
  'FieldValueRequired',
  'FieldValueDuplicate',
  'x',
]
const fieldPaths = ['.i', '.o.a', '.m.a', ".m['a']", '.nope', 'i', '.l[0]', '.lm[0].k', '']

const ruleOptions = (choices: Choices, expressions: Expressions): JsonObject => ({
  ...(choices.chance(0.1)
    ? { message: choices.pick(['m', '', ' ', 'a\nb', 'x'.repeat(3000)]) }
    : {}),
  ...(choices.chance(0.1) ? { messageExpression: expressions.make('string', 2) } : {}),
  ...(choices.chance(0.1) ? { reason: choices.pick(reasons) } : {}),
  ...(choices.chance(0.1) ? { fieldPath: choices.pick(fieldPaths) } : {}),
  ...(choices.chance(0.05) ? { optionalOldSelf: true } : {}),
})

const refusedRules = ({ body }: Answer): number[] =>
  causesOf(body)
    .map((cause) => /x-kubernetes-validations\[(\d+)\]/.exec(textAt(cause, 'field'))?.[1])
    .filter((index) => index !== undefined)
    .map(Number)

/**
 * Returns properties, some without size limits. The limits determine the estimated cost of a rule.
 */
function propertiesOf(choices: Choices): JsonObject {
  const properties = structuredClone(bounded)
  for (const schema of [...Object.values(properties), properties['ls']?.['items']]) {
    for (const bound of ['maxLength', 'maxItems', 'maxProperties'])
      if (isRecord(schema) && bound in schema && choices.chance(0.25)) delete schema[bound]
  }
  return properties
}

const bounded: { [name: string]: JsonObject } = {
  i: { type: 'integer' },
  j: { type: 'integer', format: 'int32' },
  s: { type: 'string', maxLength: 20 },
  t: { type: 'string', maxLength: 30 },
  b: { type: 'boolean' },
  d: { type: 'number' },
  l: { type: 'array', items: { type: 'integer' }, maxItems: 5 },
  ls: { type: 'array', items: { type: 'string', maxLength: 10 }, maxItems: 5 },
  set: {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'string', maxLength: 10 },
    maxItems: 5,
  },
  lm: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    maxItems: 5,
    items: {
      type: 'object',
      required: ['k'],
      properties: { k: { type: 'string', maxLength: 5 }, v: { type: 'integer' } },
    },
  },
  m: { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 5 },
  o: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'string', maxLength: 10 } },
  },
  ts: { type: 'string', format: 'date-time' },
  du: { type: 'string', format: 'duration' },
  by: { type: 'string', format: 'byte', maxLength: 20 },
  ios: { 'x-kubernetes-int-or-string': true },
  e: { type: 'string', enum: ['a', 'bb', 'ccc'] },
}

function makeSpec(choices: Choices): JsonObject {
  const keep = choices.pick([1, 1, 1, 0.7])
  const kept = Object.entries(specValues).filter(() => choices.chance(keep))
  return Object.fromEntries(
    kept.map(([key, values]) => [key, structuredClone(choices.pick(values))]),
  )
}

const specValues: { readonly [name: string]: readonly Json[] } = {
  i: [0, 1, -3, 7, 100],
  j: [0, 2, 5],
  s: ['', 'abc', 'Hello', 'ü', 'a,b', '1'],
  t: ['', 'a', '1h', '10.0.0.1', 'AbC'],
  b: [true, false],
  d: [0, 1.5, -2.5, 3],
  l: [[], [3], [3, 1, 2], [1, 2]],
  ls: [[], ['b'], ['b', 'a', 'ü']],
  set: [[], ['x'], ['x', 'y']],
  lm: [[], [{ k: 'a', v: 1 }], [{ k: 'a', v: 1 }, { k: 'b' }]],
  m: [{}, { a: 1 }, { a: 1, b: 2 }],
  o: [{}, { a: 1 }, { a: 2, b: 'x' }],
  ts: ['2020-02-29T12:34:56.789Z', '2021-01-01T00:00:00+02:00'],
  du: ['1h30m', '0s', '1ms'],
  by: ['aGVsbG8=', '', '/w=='],
  ios: [5, '25%', 'x'],
  e: ['a', 'bb'],
}
