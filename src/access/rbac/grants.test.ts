import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'
import { atOnce } from '../../lib/scheduling/slices.ts'
import { Grants } from './grants.ts'
import type { KeptRule, Rule, TextList } from './rule.ts'

const may = (more: Partial<Rule>): Rule => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames: [],
  nonResourceURLs: [],
  ...more,
})
const asks = (verb: string, name: string) =>
  ({ kind: 'resource', verb, group: '', resource: 'pods', ofAny: '', name }) as const

test('rules that differ only in their resource names are merged, and a rule without names covers all names', () => {
  const { verbs, apiGroups, resources } = may({})
  const rule = (...resourceNames: readonly string[]): Rule =>
    may({ verbs, apiGroups, resources, resourceNames })
  const some = atOnce(Grants.of([rule('a'), rule('b', 'c')]))
  for (const [name, expected] of [
    ['a', true],
    ['c', true],
    ['d', false],
    ['', false],
  ] as const)
    assert.equal(some.cover(asks('get', name)), expected, name)
  const orders = [
    [rule('a'), rule()],
    [rule(), rule('a')],
    [rule('a'), rule(), rule('b')],
  ]
  for (const rules of orders) {
    const all = atOnce(Grants.of(rules))
    assert.ok(all.cover(asks('get', 'd')))
    assert.ok(!all.cover(asks('list', 'a')))
  }
})

function pack(prefix: string): PackedTexts {
  const texts = Array.from({ length: 1000 }, (_, at) => `${prefix}${at}`)
  return atOnce(PackedTexts.of(texts)) ?? assert.fail()
}

test('permissions are found in packed lists of names and in arrays of names', () => {
  const { verbs, apiGroups, resources } = may({})
  const rule = (resourceNames: TextList): KeptRule => ({
    ...may({ verbs, apiGroups, resources }),
    resourceNames,
  })
  const some = atOnce(Grants.of([rule(pack('a')), rule(['b']), rule(pack('c'))]))
  for (const name of ['a7', 'b', 'c999']) assert.ok(some.cover(asks('get', name)), name)
  for (const name of ['a1000', '', 'c']) assert.ok(!some.cover(asks('get', name)), name)
  const verbsOnly = atOnce(Grants.of([{ ...may({}), verbs: pack('v') }]))
  assert.ok(verbsOnly.cover(asks('v5', '')))
  assert.ok(!verbsOnly.cover(asks('get', '')))
})

test('the grants of a long list or of many rules are built in steps, between which other work can run', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `x${at}`)
  const large: readonly (readonly Rule[])[] = [
    [may({ verbs: texts })],
    [may({ apiGroups: texts })],
    [may({ resources: texts })],
    [may({ resourceNames: texts })],
    texts.map((name) => may({ resourceNames: [name] })),
  ]
  for (const rules of large) {
    let steps = 0
    for (const _ of Grants.of(rules)) steps++
    assert.ok(steps >= 70, `${steps} steps`)
  }
})
