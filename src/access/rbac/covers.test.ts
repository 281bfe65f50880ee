import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSlices } from '../../lib/scheduling/slices.ts'
import { allSteps, cpuMsOf } from '../../../test/support/harness/turns.ts'
import { describeRights, missingRights } from './covers.ts'
import type { Rule } from './rule.ts'

const none = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
const may = (verbs: string, resources: string, more: Partial<Rule> = {}): Rule => ({
  ...none,
  verbs: verbs.split(','),
  apiGroups: [''],
  resources: resources.split(','),
  ...more,
})
const visits = (verbs: string, ...nonResourceURLs: readonly string[]): Rule => ({
  ...none,
  verbs: verbs.split(','),
  nonResourceURLs,
})

async function lacks(held: readonly Rule[], ...wanted: readonly Rule[]): Promise<string[]> {
  const { rights, limit } = await inSlices(missingRights([held], wanted))
  assert.equal(limit, 'none')
  return [...(await inSlices(describeRights(rights)))]
}

const cases: readonly (readonly [string, readonly Rule[], Rule, readonly string[]])[] = [
  ['a rule is covered by the same rule', [may('get,list', 'pods')], may('list,get', 'pods'), []],
  [
    'a rule can be covered by several rules',
    [may('get', 'pods'), may('list', 'pods')],
    may('get,list', 'pods'),
    [],
  ],
  [
    'missing verbs keep their order and duplicates',
    [may('list', 'pods')],
    may('watch,get,list,get', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["watch" "get" "get"]}'],
  ],
  [
    'a star covers everything',
    [may('*', '*', { apiGroups: ['*'] })],
    may('get', 'pods/log', { apiGroups: ['x'] }),
    [],
  ],
  [
    'a list of all verbs does not cover a star',
    [may('get,list,watch,create,update,patch,delete', 'pods')],
    may('*', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    '*/log covers this subresource of any resource',
    [may('get', '*/log')],
    may('get', 'pods/log'),
    [],
  ],
  [
    'a subresource cannot be a pattern',
    [may('get', 'pods/*')],
    may('get', 'pods/log'),
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  [
    'a rule with names does not cover one without names',
    [may('get', 'pods', { resourceNames: ['a'] })],
    may('get', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'a name that is not held is missing',
    [may('get', 'pods', { resourceNames: ['a'] })],
    may('get', 'pods', { resourceNames: ['a', 'b'] }),
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    'a rule without names covers one with names',
    [may('get', 'pods')],
    may('get', 'pods', { resourceNames: ['a'] }),
    [],
  ],
  [
    'a path that ends with a star covers the paths below it',
    [visits('get', '/x/*')],
    visits('get', '/x/a', '/x/a/*', '/x/*'),
    [],
  ],
  [
    'a path that ends with a star does not cover other paths or verbs',
    [visits('get', '/x/*')],
    visits('get,post', '/x', '/x/a'),
    [
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["post"]}',
      '{NonResourceURLs:["/x/a"], Verbs:["post"]}',
    ],
  ],
  [
    'a rule for resources does not cover paths',
    [may('*', '*')],
    visits('get', '/x'),
    ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  ],
  ['a rule without verbs requires nothing', [], may('get', 'pods', { verbs: [] }), []],
]
for (const [name, held, wanted, expected] of cases) {
  test(`missingRights compares two lists of rules: ${name}`, async () =>
    assert.deepEqual(await lacks(held, wanted), expected))
}

test('permissions for pods in group a and for services in group b do not cover pods in group b or services in group a', async () => {
  const held = [
    may('get', 'pods', { apiGroups: ['a'] }),
    may('get', 'services', { apiGroups: ['b'] }),
  ]
  assert.equal(
    (await lacks(held, may('get', 'pods,services', { apiGroups: ['a', 'b'] }))).length,
    2,
  )
})

test('the comparison of rules stops at a limit if a rule has billions of combinations of verbs, API groups and resources', async () => {
  const many = Array.from({ length: 2_000 }, (_, at) => `x${at}`)
  const wanted = may('get', 'pods', { verbs: many, resources: many, apiGroups: many })
  const beforeMs = performance.now()
  const { limit } = await inSlices(missingRights([[may('*', '*', { apiGroups: ['*'] })]], [wanted]))
  assert.equal(limit, 'compared')
  assert.ok(performance.now() - beforeMs < 60_000)
})

test('a comparison of many rules is divided into short slices, between which other work can run', () => {
  const held = Array.from({ length: 6_000 }, (_, at) => may('get', `x${at}`))
  const steps = missingRights([held], [...held.toReversed(), may('get', 'y')])
  let longestMs = 0
  for (;;) {
    let isDone = false
    const tookMs = cpuMsOf(() => {
      isDone = steps.next().done === true
    })
    longestMs = Math.max(longestMs, tookMs)
    if (isDone) break
  }
  // The whole comparison takes one or two seconds, so this limit would be exceeded if everything
  // happened in one step.
  assert.ok(longestMs < 500, `${longestMs} ms`)
})

test('the comparison of a rule with very many resource names is divided into steps', () => {
  const names = Array.from({ length: 400_000 }, (_, at) => `x${at}`)
  const rule = may('get', 'pods', { resourceNames: names })
  let count = 0
  for (const _ of missingRights([[rule]], [may('get', 'pods', { resourceNames: ['y'] })])) count++
  assert.ok(count >= 300, `${count} steps`)
})

test('resource names of megabytes are compared as fast as short names', () => {
  const name = 'x'.repeat(1_000_000)
  const rules = Array.from({ length: 20 }, (_, at) => may('get', `${name}${at}`))
  const held = Array.from({ length: 2_000 }, (_, at) => rules[at % rules.length] ?? may('', ''))
  const wanted = Array.from({ length: 2_000 }, () => may('get', `${name}y`))
  const tookMs = cpuMsOf(() => allSteps(missingRights([held], wanted)))
  assert.ok(tookMs < 10_000, `${tookMs} ms`)
})

test('at most a thousand missing permissions are returned', async () => {
  const many = Array.from({ length: 50 }, (_, at) => `x${at}`)
  const { rights, limit } = await inSlices(
    missingRights([], [may('get', 'x', { verbs: many, resources: many, apiGroups: many })]),
  )
  assert.deepEqual([rights.length, limit], [1_000, 'missing'])
})

test('a rule without verbs grants no permission, however long its lists are', async () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `x${at}`)
  assert.deepEqual(
    await lacks([], may('get', 'x', { verbs: [], resources: many, apiGroups: many })),
    [],
  )
})

test('a long name that many missing permissions share is shortened in the message', async () => {
  const name = 'x'.repeat(1_000_000)
  const verbs = Array.from({ length: 500 }, (_, at) => `v${at}`)
  const [line = '', ...others] = await lacks([], may('get', name, { verbs }))
  assert.deepEqual(others, [])
  const shown = `"${'x'.repeat(1024)}"... (998976 more characters)`
  const shownVerbs = verbs.map((verb) => `"${verb}"`).join(' ')
  assert.equal(line, `{APIGroups:[""], Resources:[${shown}], Verbs:[${shownVerbs}]}`)
})

test('missing permissions are formatted in steps of a few permissions', () => {
  const rights = Array.from({ length: 1_000 }, (_, at) => may('get', `x${at}`))
  let count = 0
  for (const _ of describeRights(rights)) count++
  // Each missing permission is processed twice: it is joined with others and then formatted. A step
  // handles at most eight permissions.
  assert.ok(count >= 200, `${count} steps`)
})
