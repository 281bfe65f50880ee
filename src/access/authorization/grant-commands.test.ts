import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes } from '../../api/access.ts'
import { accessSelectors } from '../../api/access-selectors.ts'
import { grantCommands } from './grant-commands.ts'

const userOf = (name: string) => ({ name, uid: '', groups: [] })

const resource = (
  fields: Partial<Extract<AccessAttributes, { kind: 'resource' }>>,
): AccessAttributes => ({
  kind: 'resource',
  verb: 'get',
  group: '',
  version: '*',
  plural: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  selectors: accessSelectors('', ''),
  ...fields,
})

test('the kubectl commands that are suggested for a denied request in a namespace create a Role and a RoleBinding', () => {
  assert.deepEqual(
    grantCommands(userOf('alice'), resource({ verb: 'delete', namespace: 'shop' })),
    [
      'kubectl create role alice-delete-pods --verb=delete --resource=pods -n shop',
      'kubectl create rolebinding alice-delete-pods --role=alice-delete-pods --user=alice -n shop',
    ],
  )
})

test('the kubectl commands for a denied subresource of a named object grant access only to this subresource of this object', () => {
  const scale = { group: 'apps', plural: 'deployments', subresource: 'scale', name: 'web' }
  const [role] = grantCommands(
    userOf('alice'),
    resource({ ...scale, verb: 'patch', namespace: 'shop' }),
  )
  assert.equal(
    role,
    'kubectl create role alice-patch-deployments-scale --verb=patch ' +
      '--resource=deployments.apps/scale --resource-name=web -n shop',
  )
})

test('the kubectl commands for a service account create a binding with a ServiceAccount as the subject, not a User', () => {
  const [, binding] = grantCommands(userOf('system:serviceaccount:shop:bot'), resource({}))
  assert.equal(
    binding,
    'kubectl create clusterrolebinding bot-get-pods --clusterrole=bot-get-pods ' +
      '--serviceaccount=shop:bot',
  )
})

test('the kubectl commands that are suggested for a denied non-resource path create a ClusterRole', () => {
  const [role] = grantCommands(userOf('alice'), { kind: 'path', verb: 'get', path: '/metrics' })
  assert.equal(
    role,
    'kubectl create clusterrole alice-get-metrics --verb=get --non-resource-url=/metrics',
  )
})

test('names in the suggested kubectl commands are quoted for the shell', () => {
  const [role, binding] = grantCommands(userOf("o'neil; rm -rf ~"), resource({ name: '$HOME' }))
  assert.match(role ?? '', /create clusterrole o-neil-rm-rf-get-pods .* --resource-name='\$HOME'$/)
  assert.match(binding ?? '', / --user='o'\\''neil; rm -rf ~'$/)
})

test('no kubectl commands are suggested if a name contains control characters', () => {
  assert.deepEqual(grantCommands(userOf('a\nb'), resource({})), [])
  assert.deepEqual(grantCommands(userOf('a\u202eb'), resource({})), [])
  assert.deepEqual(grantCommands(userOf('a'), resource({ name: 'x\u001b[2K' })), [])
})

test('no kubectl commands are suggested if kubectl would split a value at a comma and grant too much', () => {
  const path = { kind: 'path', verb: 'get', path: '/healthz,/*' } as const
  for (const attributes of [
    path,
    resource({ plural: 'pods,secrets' }),
    resource({ subresource: 'log,secrets' }),
    resource({ group: 'apps,secrets' }),
    resource({ verb: 'get,delete' }),
    resource({ verb: '"get"' }),
  ])
    assert.deepEqual(grantCommands(userOf('a'), attributes), [])
})

test('kubectl commands are suggested for an object whose name contains a comma, because kubectl does not split object names', () => {
  assert.match(grantCommands(userOf('a'), resource({ name: 'x,y' }))[0] ?? '', /name=x,y$/)
})

test('no kubectl commands are suggested for a request that contains a wildcard', () => {
  for (const fields of [{ plural: '*' }, { subresource: '*' }, { verb: '*' }])
    assert.deepEqual(grantCommands(userOf('alice'), resource(fields)), [])
  const path = { kind: 'path', verb: 'get', path: '/a*' } as const
  assert.deepEqual(grantCommands(userOf('alice'), path), [])
})
