import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes } from '../../../test/support/harness/admission.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { ReceivedAnswers } from '../../net/outbound/received.ts'
import { WebhookList } from './webhook-list.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)
const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })

const rules = [
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['*'],
    scope: '*',
  },
]
const configuration = {
  webhooks: [{ name: 'h', rules, clientConfig: { url: 'https://localhost/' } }],
}

test('a stored webhook configuration that can no longer be decoded stays in force, and a new one that cannot be decoded blocks writes', () => {
  const list = new WebhookList(registry, {
    getService: () => undefined,
    received: new ReceivedAnswers(),
  })
  list.set('a', configuration)
  list.setUnreadable('a')
  assert.equal(list.candidates(write).length, 1)
  list.setUnreadable('b')
  assert.throws(() => list.candidates(write), {
    code: 403,
    message:
      'configmaps "c" is forbidden: the stored webhook configuration "b" cannot be decoded; repair or delete it',
  })
  const review = attributes({
    plural: 'subjectaccessreviews',
    group: 'authorization.k8s.io',
    object: anObject('SubjectAccessReview', ''),
  })
  assert.deepEqual(list.candidates(review), [], 'reviews still pass')
  assert.deepEqual([...list.names()], ['a', 'b'], 'unreadable configurations are listed')
  list.set('b', undefined)
  assert.equal(list.candidates(write).length, 1)
})

test('a webhook is reported as removed when no configuration contains a webhook with this name any more', () => {
  const gone: string[] = []
  const parts = { getService: () => undefined, received: new ReceivedAnswers() }
  const list = new WebhookList(registry, parts, (name) => gone.push(name))
  list.set('a', configuration)
  list.set('b', configuration)
  list.set('a', configuration)
  list.set('a', undefined)
  assert.deepEqual(gone, [])
  list.set('b', { webhooks: [] })
  assert.deepEqual(gone, ['h'])
})
