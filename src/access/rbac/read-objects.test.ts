import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'
import { keptBindingInSteps, keptInSteps, keptRules } from './read-objects.ts'

test('reading the rules of a role in steps returns the same rules as reading them at once', () => {
  const names = Array.from({ length: 1000 }, (_, at) => `n${at}`)
  const rules = [
    { verbs: ['get'], apiGroups: names, resources: ['pods'], resourceNames: names },
    {},
    { verbs: ['get'], nonResourceURLs: ['/healthz'] },
  ]
  const kept = allSteps(keptInSteps({ rules }, new SharedLists()))
  assert.deepEqual(
    kept.map((rule) =>
      Object.fromEntries(Object.entries(rule).map(([name, list]) => [name, [...list]])),
    ),
    keptRules({ rules }, new SharedLists()),
  )
  assert.ok(kept[0]?.resourceNames instanceof PackedTexts)
})

test('large roles and bindings are read in steps, between which other work can run', () => {
  const names = Array.from({ length: 250 }, (_, at) => `n${at}`)
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: names }
  const rules = Array.from({ length: 250 }, () => rule)
  const subjects = Array.from({ length: 25_000 }, (_, at) => ({ kind: 'User', name: `u${at}` }))
  const roleRef = { kind: 'ClusterRole', name: 'r' }
  const shared = new SharedLists()
  for (const steps of [
    keptInSteps({ rules }, shared),
    keptBindingInSteps({ roleRef, subjects }, '', shared),
  ]) {
    let count = 0
    for (const _ of steps) count++
    assert.ok(count >= 90, `${count} steps`)
  }
})
