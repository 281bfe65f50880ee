import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'
import { keptInSteps, keptRules } from './read-objects.ts'

test('rules that are read in steps are the same as those that are read at once', () => {
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
