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

/** What became of it, in short. */
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
  ['nothing holds it', 'remove', () => outcomeOf(object({}), configMap)],
  [
    'a finalizer',
    'mark [a/b] 03:04:05Z 0 ',
    () => outcomeOf(object({ finalizers: ['a/b'] }), configMap),
  ],
  [
    'a generation moves',
    'mark [a/b] 03:04:05Z 0 4',
    () => outcomeOf(object({ finalizers: ['a/b'], generation: 3 }), configMap),
  ],
  [
    'a second delete moves nothing',
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
    'grace of other kinds',
    'remove',
    () => outcomeOf(object({}), configMap, { gracePeriodSeconds: 30 }),
  ],
  [
    'foreground',
    'mark [foregroundDeletion] 03:04:05Z 0 ',
    () => outcomeOf(object({}), configMap, { propagation: 'Foreground' }),
  ],
  [
    'foreground instead of orphan, last',
    'mark [a/b,foregroundDeletion] 03:04:05Z 0 ',
    () =>
      outcomeOf(object({ finalizers: ['orphan', 'a/b'] }), configMap, {
        propagation: 'Foreground',
      }),
  ],
  [
    'orphan by the older option',
    'mark [orphan] 03:04:05Z 0 ',
    () => outcomeOf(object({}), configMap, { orphanDependents: true }),
  ],
  [
    'background takes both away',
    'remove',
    () =>
      outcomeOf(object({ finalizers: ['orphan', 'foregroundDeletion'] }), configMap, {
        propagation: 'Background',
      }),
  ],
  [
    'what the object says stays',
    'mark [orphan] 03:04:05Z 0 ',
    () => outcomeOf(object({ finalizers: ['orphan'] }), configMap),
  ],
  ['a Job orphans by itself', 'mark [orphan] 03:04:05Z 0 ', () => outcomeOf(object({}), job)],
  [
    'unless told otherwise',
    'remove',
    () => outcomeOf(object({}), job, { propagation: 'Background' }),
  ],
  [
    'nobody owns an Event',
    'remove',
    () => outcomeOf(object({}), event, { propagation: 'Foreground' }),
  ],
  [
    'a pod without a node',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }), pod),
  ],
  [
    'a running pod',
    'mark [] 03:04:35Z 30 2',
    () => outcomeOf(object({ generation: 1 }, running), pod),
  ],
  [
    'a running pod, at once',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: 0 }),
  ],
  [
    'a negative grace',
    'mark [] 03:04:06Z 1 2',
    () => outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: -5 }),
  ],
  [
    'a pod that has ended',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object({ generation: 1 }, { ...running, status: { phase: 'Failed' } }), pod),
  ],
  ['an ending pod, once more', 'keep', () => outcomeOf(object(ending, running), pod)],
  [
    'an ending pod, longer',
    'keep',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 60 }),
  ],
  [
    'an ending pod, sooner',
    'mark [] 03:04:10Z 25 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 25 }),
  ],
  [
    'an ending pod, sooner than possible',
    'mark [] 03:04:05Z 1 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 5 }),
  ],
  [
    'an ending pod, now',
    'mark-and-remove [] 03:04:05Z 0 2',
    () => outcomeOf(object(ending, running), pod, { gracePeriodSeconds: 0 }),
  ],
  [
    'a grace of 292 years and more wraps around, as in Go',
    'mark [] 15:13:33Z 260000000000 2',
    () =>
      outcomeOf(object({ generation: 1 }, running), pod, { gracePeriodSeconds: 260_000_000_000 }),
  ],
  [
    'the largest grace that 64 bits can say is told as it is',
    'mark [] 03:04:04Z 9223372036854775807 2',
    () =>
      outcomeOf(object({ generation: 1 }, running), pod, {
        gracePeriodSeconds: 9223372036854775807n,
      }),
  ],
  [
    'an ending pod with such a grace, once more',
    'keep',
    () =>
      outcomeOf(object({ ...ending, deletionGracePeriodSeconds: 9007199254740993n }, running), pod),
  ],
  [
    'a marked pod that has a finalizer, in the foreground',
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
    'a pod with a finalizer, now',
    'mark [a/b] 03:04:05Z 0 3',
    () =>
      outcomeOf(object({ finalizers: ['a/b'], generation: 2 }, running), pod, {
        gracePeriodSeconds: 0,
      }),
  ],
]
for (const [what, wanted, run] of cases) test(what, () => assert.equal(run(), wanted))

test('the object that is decided on is never changed', () => {
  const given = object({ finalizers: ['a/b'], generation: 1 }, running)
  const copy = structuredClone(given)
  decideDeletion(given, pod, { ...plain, propagation: 'Orphan' }, now)
  namespace.ownDeletion?.mark(given, { ...plain, orphanDependents: false }, now)
  assert.deepEqual(given, copy)
})

test('the last finalizer of a marked object lets it go', () => {
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

test('a namespace is marked, and its dependents are waited for if the older option says so', () => {
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
