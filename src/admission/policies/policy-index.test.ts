import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes } from '../../../test/support/harness/admission.ts'
import type { Fields } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { Policy, readBinding } from './policy.ts'
import { PolicyIndex } from './policy-index.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)
const resourceRules = [
  { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] },
]

const policyWith = (failurePolicy: string, metadata: Fields): Policy<undefined> =>
  new Policy(
    anObject('ValidatingAdmissionPolicy', 'p', {
      metadata,
      spec: { failurePolicy, matchConstraints: { resourceRules } },
    }),
    () => assert.fail(),
  )

test('a compiled policy is reused only while its spec is unchanged', () => {
  const index = new PolicyIndex<undefined>('validating', registry)
  index.setBinding(
    'b',
    readBinding(anObject('ValidatingAdmissionPolicyBinding', 'b', { spec: { policyName: 'p' } })),
  )
  const inForce = (policy: Policy<undefined>): boolean => {
    index.setPolicy('p', policy)
    const [found] = index.candidates(attributes({ plural: 'configmaps' }))
    return found?.entry.policy === policy
  }
  const metadata = { uid: 'u', generation: 5 }
  assert.ok(inForce(policyWith('Ignore', metadata)))
  assert.ok(
    !inForce(policyWith('Ignore', { ...metadata, labels: { a: 'b' } })),
    'it is compiled again',
  )
  // The generation is unchanged, but the spec is different, as after a restore of etcd from a
  // backup.
  assert.ok(inForce(policyWith('Fail', metadata)), 'the spec before it stays in force')
  assert.ok(inForce(policyWith('Fail', { ...metadata, uid: 'v' })))
})
