import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../api/errors.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { selects } from '../../../registry/rules/label-selector.ts'
import { goesUncounted, needsNoBudget, selectsInJson, spent } from './budgets.ts'

const pod = (status: Fields, labels = { app: 'a' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels },
  status,
})
const running = pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
const unready = pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] })

const budget = (status: Fields, spec: Fields = {}): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', generation: 2 },
  spec: { selector: { matchLabels: { app: 'a' } }, ...spec },
  status: { observedGeneration: 2, ...status },
})

const now = '2026-03-01T10:00:00Z'

test('the eviction of a pod that is pending, finished or being deleted does not use a PodDisruptionBudget', () => {
  const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']
  assert.deepEqual(
    phases.map((phase) => needsNoBudget(pod({ phase }))),
    [true, false, true, true, false],
  )
  assert.ok(needsNoBudget({ ...running, metadata: { name: 'p', deletionTimestamp: now } }))
})

test('an unready pod is evicted without using its budget if enough other pods are healthy, or if the policy is AlwaysAllow', () => {
  const healthy = budget({ currentHealthy: 2, desiredHealthy: 2 })
  const ill = budget({ currentHealthy: 1, desiredHealthy: 2 })
  const always = budget(
    { currentHealthy: 0, desiredHealthy: 2 },
    { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  )
  assert.deepEqual(
    [healthy, ill, always].map((one) => [goesUncounted(unready, one), goesUncounted(running, one)]),
    [
      [true, false],
      [false, false],
      [true, false],
    ],
  )
})

test('an eviction uses one allowed disruption of the PodDisruptionBudget, and records the name of the pod', () => {
  const { status } = spent(budget({ disruptionsAllowed: 2, disruptedPods: { q: now } }), 'p', {
    now,
    release: 33,
  })
  assert.deepEqual(status, {
    observedGeneration: 2,
    disruptionsAllowed: 1,
    disruptedPods: { q: now, p: now },
  })
})

const refusals: readonly (readonly [string, Fields, number, number | undefined])[] = [
  ['no disruption is left', { disruptionsAllowed: 0 }, 429, undefined],
  [
    'the controller has not processed a change yet',
    { observedGeneration: 1, disruptionsAllowed: 1 },
    429,
    10,
  ],
  ['the number of allowed disruptions is negative', { disruptionsAllowed: -1 }, 403, undefined],
]
for (const [why, status, code, retryAfterSeconds] of refusals) {
  test(`an eviction is rejected if ${why}`, () => {
    assert.throws(
      () => spent(budget(status), 'p', { now, release: 33 }),
      (error) =>
        error instanceof ApiError &&
        error.code === code &&
        error.details?.retryAfterSeconds === retryAfterSeconds,
    )
  })
}

test('since 1.35, the condition of a PodDisruptionBudget explains why it refuses an eviction', () => {
  const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'Busy', message: 'wait' }
  const texts: readonly (readonly [Fields, string])[] = [
    [{ desiredHealthy: 2, currentHealthy: 1 }, 'needs 2 healthy pods and has 1 currently'],
    [{ desiredHealthy: 1, currentHealthy: 2 }, 'does not allow evicting pods currently'],
    [
      { desiredHealthy: 1, currentHealthy: 2, conditions: [condition] },
      'does not allow evicting pods currently (Busy): wait',
    ],
    [
      { conditions: [{ ...condition, reason: 'SyncFailed' }] },
      'does not allow evicting pods currently because it failed sync: wait',
    ],
  ]
  for (const [status, text] of texts) {
    assert.throws(
      () => spent(budget(status), 'p', { now, release: 35 }),
      (error) =>
        error instanceof ApiError &&
        error.details?.causes?.[0]?.message === `The disruption budget b ${text}`,
    )
  }
  assert.throws(
    () => spent(budget({ conditions: [condition] }), 'p', { now, release: 34 }),
    (error) =>
      error instanceof ApiError &&
      error.details?.causes?.[0]?.message ===
        'The disruption budget b needs 0 healthy pods and has 0 currently',
  )
})

test('property: a selector in JSON selects the same pods as the parsed selector', () => {
  const word = fc.constantFrom('a', 'b', 'app', '', 'ab')
  const operator = fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Is')
  const expression = fc.record(
    { key: word, operator, values: fc.array(word) },
    { requiredKeys: ['key', 'operator'] },
  )
  const selector = fc.record(
    {
      matchLabels: fc.dictionary(word, word),
      matchExpressions: fc.array(expression, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      selector,
      fc.option(fc.dictionary(word, word), { nil: undefined }),
      (given, labels) => {
        assert.equal(
          selectsInJson(Buffer.from(JSON.stringify(given)), labels),
          selects(given, labels),
        )
      },
    ),
    { numRuns: 1000 },
  )
})
