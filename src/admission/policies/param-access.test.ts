import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
} from '../../../test/support/harness/admission.ts'
import type { AccessAttributes } from '../../api/access.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { createParamAccess } from './param-access.ts'

const group = 'admissionregistration.k8s.io'
const user = { name: 'jane', uid: '7', groups: ['a', 'b'], extra: { z: ['1', '2'], k: ['3'] } }
const jane = '&{jane 7 [a b] map[k:[3] z:[1 2]]}'
const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

function setUp(verdict: 'allow' | 'no-opinion') {
  const asked: AccessAttributes[] = []
  const objects = new MemoryObjects()
  const plugin = createParamAccess({
    objects,
    authorize: (_, access) => {
      asked.push(access)
      return { verdict, reason: '' }
    },
    resourcesOf: (_, kind) => registry.all().filter((resource) => resource.kind === kind),
  })
  const write = (
    kind: 'policies' | 'policybindings',
    spec: Fields,
    more: { oldObject?: KubeObject } = {},
  ) =>
    admit(
      plugin,
      attributes({
        plural: `validatingadmission${kind}`,
        group,
        user,
        object: anObject('X', 'x', { spec }),
        ...more,
      }),
    )
  return { asked, objects, write }
}

const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }

test('a user who names a parameter kind in a policy needs permission to read all parameters of this kind', async () => {
  const { asked, write } = setUp('no-opinion')
  const why = `user ${jane} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`
  assert.equal(
    await write('policies', { paramKind }),
    `422 ValidatingAdmissionPolicy.${group} "x" is invalid: spec.paramKind: Forbidden: ${why}`,
  )
  assert.deepEqual(asked, [
    {
      kind: 'resource',
      verb: 'get',
      group: '',
      version: 'v1',
      plural: 'configmaps',
      subresource: '',
      name: '*',
      namespace: '*',
    },
  ])
  assert.equal(typeof (await write('policies', {})), 'object')
  const oldObject = anObject('X', 'x', { spec: { paramKind } })
  assert.equal(typeof (await write('policies', { paramKind }, { oldObject })), 'object')
  assert.equal(asked.length, 1)
})

test('a user who binds parameters needs permission to list them, or to list all resources if the policy is missing', async () => {
  const { objects, write } = setUp('no-opinion')
  const refused = `422 ValidatingAdmissionPolicyBinding.${group} "x" is invalid: spec.paramRef: Forbidden:`
  const unknown = `to determine minimum required permissions and user ${jane} does not have "list" permission for all groups, versions and resources`
  const paramRef = { selector: {} }
  assert.equal(
    await write('policybindings', { policyName: 'p', paramRef }),
    `${refused} unable to get policy p ${unknown}`,
  )
  objects.put('validatingadmissionpolicies', '', anObject('X', 'p', { spec: { paramKind } }))
  assert.equal(
    await write('policybindings', { policyName: 'p', paramRef }),
    `${refused} user ${jane} does not have "list" permission on the object referenced by paramRef`,
  )
  assert.equal(typeof (await write('policybindings', { policyName: 'p' })), 'object')
})

test('a user with permission to read parameters can bind them', async () => {
  const { asked, objects, write } = setUp('allow')
  objects.put('validatingadmissionpolicies', '', anObject('X', 'p', { spec: { paramKind } }))
  const paramRef = { name: 'a', namespace: 'n' }
  assert.equal(typeof (await write('policybindings', { policyName: 'p', paramRef })), 'object')
  assert.deepEqual(asked, [
    {
      kind: 'resource',
      verb: 'get',
      group: '',
      version: 'v1',
      plural: 'configmaps',
      subresource: '',
      ...paramRef,
    },
  ])
})
