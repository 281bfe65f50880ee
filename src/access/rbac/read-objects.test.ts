import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'
import { keptInSteps, keptRules } from './read-objects.ts'

test('keptInSteps returns the same rules as keptRules', () => {
  const names = Array.from({ length: 1000 }, (_, at) => `n${at}`)
  const rules = [
    { verbs: ['get'], apiGroups: names, resources: ['pods'], resourceNames: names },
    {},
    { verbs: ['get'], nonResourceURLs: ['/healthz'] },
  ]
  assert.deepEqual(
    allSteps(keptInSteps({ rules }, new SharedLists())),
    keptRules({ rules }, new SharedLists()),
  )
})
