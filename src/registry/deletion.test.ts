import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import { builtInResources } from './built-in.ts'
import { decideDeletion, type DeletionOptions, type DeletionRules, isReleased } from './deletion.ts'

const now = '2026-01-02T03:04:05Z'
const plain = {
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagation: undefined,
} as const

const resources = builtInResources()
const rulesOf = (name: string): DeletionRules => {
  const found = resources.find(({ kind, version }) => kind === name && version === 'v1')
  assert.ok(found, name)
  return found.deletion
}
const [configMap, job, event] = [rulesOf('ConfigMap'), rulesOf('Job'), rulesOf('Event')]
const [pod, namespace] = [rulesOf('Pod'), rulesOf('Namespace')]

const object = (metadata: ObjectMeta, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'x',
  metadata,
  ...more,
})

type Kind = Parameters<typeof decideDeletion>[1]

/** Decides the outcome of a delete, and summarizes it in one line. */
function outcomeOf(given: KubeObject, kind: Kind, options: Partial<DeletionOptions> = {}): string {
  const decided = decideDeletion(given, kind, { ...plain, ...options }, now)
  if (!('object' in decided)) return decided.step
  const { finalizers = [], deletionTimestamp = '', generation = '' } = decided.object.metadata
  const seconds = decided.object.metadata['deletionGracePeriodSeconds']
  const grace = typeof seconds === 'bigint' ? `${seconds}` : JSON.stringify(seconds)
  return `${decided.step} [${finalizers.join()}] ${deletionTimestamp.slice(11)} ${grace} ${generation}`
}

const running = { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } }
const ending = {
  generation: 2,
  deletionTimestamp: '2026-01-02T03:04:15Z',
  deletionGracePeriodSeconds: 30,
}

const cases: readonly [string, string, () => string][] = [
  ['an object without finalizers is removed', 'remove', () => outcomeOf(object({}), configMap)],
  [
    'an object with a finalizer is marked',
    'mark [a/b] 03:04:05Z 0 ',
    () => outcomeOf(object({ finalizers: ['a/b'] }), configMap),
  ],
  [
    'marking an object increments its generation',
    'mark [a/b] 03:04:05Z 0 4',
    () => outcomeOf(object({ finalizers: ['a/b'], generation: 3 }), configMap),
  ],
  [
    'a second delete of a marked object changes nothing',
    'mark [a/b] 03:04:01Z 0 4',
    () =>
      outcomeOf(
        object({
          finalizers: ['a/b'],
          generation: 4,
          deletionTimestamp: '2026-01-02T03:04:01Z',
          deletionGracePeriodSeconds: 0,
        }),
        configMap,
      ),
  ],
  [
    'kinds other than Pod ignore a grace period',
    'remove',
    () => outcomeOf(object({}), configMap, { gracePeriodSeconds: 30 }),
  ],
  [
    'foreground propagation adds its finalizer',
    'mark [foregroundDeletion] 03:04:05Z 0 ',
    () => outcomeOf(object({}), configMap, { propagation: 'Foreground' }),
  ],
  [
    'foreground propagation replaces the orphan finalizer and comes last',
    'mark [a/b,foregroundDeletion] 03:04:05Z 0 ',
    () =>
      outcomeOf(object({ finalizers: ['orphan', 'a/b'] }), configMap, {
        propagation: 'Foreground',
      }),
  ],
  [
    'orphanDependents adds the orphan finalizer',
    'mark [orphan] 03:04:05Z 0 ',
    () => outcomeOf(object({}), configMap, { orphanDependents: true }),
  ],
  [
    'background propagation removes both finalizers of the garbage collector',
    'remove',
    () =>
      outcomeOf(object({ finalizers: ['orphan', 'foregroundDeletion'] }), configMap, {
        propagation: 'Background',
      }),
  ],
  [
    'an orphan finalizer stays if the delete has no propagation policy',
    'mark [orphan] 03:04:05Z 0 ',
    () => outcomeOf(object({ finalizers: ['orphan'] }), configMap),
  ],
  [
    'a Job orphans its dependents by default',
    'mark [orphan] 03:04:05Z 0 ',
    () => outcomeOf(object({}), job),
  ],
  [
    'a Job does not orphan its dependents if the delete requests background propagation',
    'remove',
    () => outcomeOf(object({}), job, { propagation: 'Background' }),
  ],
  [
    'an Event ignores the propagation policy',
    'remove',
    () => outcomeOf(object({}), event, { propagation: 'Foreground' }),
  ],
  [
    'a Pod without a node is marked and removed',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }), pod),
  ],
  [
    'a running Pod is marked with its grace period',
    'mark [] 03:04:35Z 30 2',
    () => outcomeOf(object({ generation: 1 }, running), pod),
  ],
  [
    'a running Pod is marked and removed if the delete has no grace period',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: 0 }),
  ],
  [
    'a negative grace period counts as one second',
    'mark [] 03:04:06Z 1 2',
    () => outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: -5 }),
  ],
  [
    'a Pod that has failed is marked and removed',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }, { ...running, status: { phase: 'Failed' } }), pod),
  ],
  [
    'a second delete of a terminating Pod changes nothing',
    'keep',
    () => outcomeOf(object(ending, running), pod),
  ],
  [
    'a second delete cannot extend the grace period of a terminating Pod',
    'keep',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 60 }),
  ],
  [
    'a second delete can shorten the grace period of a terminating Pod',
    'mark [] 03:04:10Z 25 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 25 }),
  ],
  [
    'a shortened grace period that is already over leaves one second',
    'mark [] 03:04:05Z 1 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 5 }),
  ],
  [
    'a delete without a grace period removes a terminating Pod',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 0 }),
  ],
  [
    'a grace period of more than 292 years wraps around, as in Go',
    'mark [] 15:13:33Z 260000000000 2',
    () =>
      outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: 260_000_000_000 }),
  ],
  [
    'the largest 64-bit grace period is stored unchanged',
    'mark [] 03:04:04Z 9223372036854775807 2',
    () =>
      outcomeOf(object({ generation: 1 }, running), pod, {
        gracePeriodSeconds: 9223372036854775807n,
      }),
  ],
  [
    'a second delete of a Pod with a 64-bit grace period changes nothing',
    'keep',
    () =>
      outcomeOf(object({ ...ending, deletionGracePeriodSeconds: 9007199254740993n }, running), pod),
  ],
  [
    'foreground propagation adds its finalizer to a marked Pod',
    'mark [a/b,foregroundDeletion] 03:04:01Z 0 2',
    () =>
      outcomeOf(
        object(
          {
            finalizers: ['a/b'],
            generation: 2,
            deletionTimestamp: '2026-01-02T03:04:01Z',
            deletionGracePeriodSeconds: 0,
          },
          running,
        ),
        pod,
        { propagation: 'Foreground' },
      ),
  ],
  [
    'a delete without a grace period only marks a Pod that has a finalizer',
    'mark [a/b] 03:04:05Z 0 3',
    () =>
      outcomeOf(object({ finalizers: ['a/b'], generation: 2 }, running), pod, {
        gracePeriodSeconds: 0,
      }),
  ],
]
for (const [what, wanted, run] of cases) test(what, () => assert.equal(run(), wanted))

test('decideDeletion never changes the object', () => {
  const given = object({ finalizers: ['a/b'], generation: 1 }, running)
  const copy = structuredClone(given)
  decideDeletion(given, pod, { ...plain, propagation: 'Orphan' }, now)
  namespace.ownDeletion?.mark(given, { ...plain, orphanDependents: false }, now)
  assert.deepEqual(given, copy)
})

test('an object with a deletionTimestamp is removed when its last finalizer is removed', () => {
  const marked = { deletionTimestamp: now, deletionGracePeriodSeconds: 0, finalizers: ['a/b'] }
  assert.equal(isReleased(object({}), object(marked), configMap), true)
  assert.equal(isReleased(object({ finalizers: ['a/b'] }), object(marked), configMap), false)
  assert.equal(isReleased(object({}), object({ finalizers: ['a/b'] }), configMap), false)
  assert.equal(
    isReleased(object({}), object({ ...marked, deletionGracePeriodSeconds: 30 }), pod),
    false,
  )
  assert.equal(
    isReleased(object({}, { spec: { finalizers: ['kubernetes'] } }), object(marked), namespace),
    false,
  )
  assert.equal(isReleased(object({}, { spec: {} }), object(marked), namespace), true)
})

test('a delete of a namespace sets its deletionTimestamp, and adds foregroundDeletion if orphanDependents is false', () => {
  const marked = namespace.ownDeletion?.mark(
    object({ finalizers: ['a/b'] }),
    { ...plain, orphanDependents: false },
    now,
  )
  assert.deepEqual(marked?.metadata, {
    finalizers: ['a/b', 'foregroundDeletion'],
    deletionTimestamp: now,
  })
  assert.deepEqual(marked?.['status'], { phase: 'Terminating' })
})
