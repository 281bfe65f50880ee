import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, itemsOf, type KubeObject } from '../../api/object.ts'
import { type ContentReport, withConditions } from './conditions.ts'

const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'n' },
  status: { phase: 'Terminating' },
}
const empty: ContentReport = { faults: [], remaining: new Map(), finalizers: new Map() }
const left: ContentReport = {
  faults: ['two', 'one'],
  remaining: new Map([
    ['widgets.example.com', 2],
    ['pods.', 1],
  ]),
  finalizers: new Map([['example.com/a', 2]]),
}

const conditionsOf = (object: KubeObject | undefined) =>
  itemsOf(fieldsOf(object?.['status'])['conditions'])

test('conditions have the same order and messages as in kube-controller-manager, and their time changes only when their status changes', () => {
  const first = withConditions(namespace, left, 't1') ?? assert.fail()
  assert.deepEqual(
    conditionsOf(first).map(({ type, status, reason, message }) => [type, status, reason, message]),
    [
      [
        'NamespaceDeletionDiscoveryFailure',
        'False',
        'ResourcesDiscovered',
        'All resources successfully discovered',
      ],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'True',
        'ContentDeletionFailed',
        'Failed to delete all resource types, 2 remaining: one, two',
      ],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: pods. has 1 resource instances, widgets.example.com has 2 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances',
      ],
    ],
  )
  assert.equal(withConditions(first, left, 't2'), undefined)
  const fewer = withConditions(first, { ...left, remaining: new Map([['pods.', 1]]) }, 't2')
  assert.deepEqual(conditionsOf(fewer)[3], {
    type: 'NamespaceContentRemaining',
    lastTransitionTime: 't1',
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: 'Some resources are remaining: pods. has 1 resource instances',
  })
  const done = withConditions(first, empty, 't3')
  assert.deepEqual(
    conditionsOf(done).map(({ lastTransitionTime }) => lastTransitionTime),
    ['t1', 't1', 't3', 't3', 't3'],
  )
})
