/**
 * Tests ABAC on a whole server. A policy file determines permissions, and a user still cannot
 * create a role with more permissions than the user has.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-abac-'))
const policies = [
  { user: 'bob', namespace: 'default', resource: 'configmaps', apiGroup: '*' },
  { user: 'bob', namespace: 'default', resource: 'secrets', apiGroup: '*', readonly: true },
  { user: 'bob', nonResourcePath: '/version*', readonly: true },
  { user: 'bob', resource: 'selfsubjectrulesreviews', apiGroup: '*' },
  { user: 'keeper', namespace: 'default', resource: 'roles', apiGroup: '*', readonly: true },
]
const parts = new AsyncDisposableStack()
let server: TestServer
let client: Client

before(async () => {
  const path = join(folder, 'policies')
  const kind = { apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy' }
  writeFileSync(path, policies.map((spec) => `${JSON.stringify({ ...kind, spec })}\n`).join(''))
  server = await startTestServer([
    '--authorization-mode=ABAC',
    `--authorization-policy-file=${path}`,
  ])
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
})

after(async () => {
  await parts.disposeAsync()
  await server[Symbol.asyncDispose]()
  assert.deepEqual(server.complaints, [])
  rmSync(folder, { recursive: true })
})

const asBob = async (method: string, path: string, body?: unknown) => {
  const { status, text } = await client.call({
    method,
    path,
    token: 'bob-token',
    ...(body === undefined ? {} : { body }),
  })
  return { status, text }
}

test('a policy allows only the named resources, and only reads if it is read-only', async () => {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  assert.equal((await asBob('POST', configMaps, { metadata: { name: 'a' } })).status, 201)
  assert.equal((await asBob('GET', '/api/v1/namespaces/default/secrets')).status, 200)
  assert.equal((await asBob('GET', '/version')).status, 200)
  const refused = await asBob('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: 'a' },
  })
  assert.equal(refused.status, 403)
  assert.match(
    refused.text,
    /cannot create resource \\"secrets\\" in API group \\"\\" in the namespace \\"default\\": No policy matched\./,
  )
  assert.equal((await asBob('GET', '/api/v1/namespaces/other/configmaps')).status, 403)
})

test('a SelfSubjectRulesReview returns the policies of the user', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  const { status, text } = await asBob('POST', path, { spec: { namespace: 'default' } })
  assert.equal(status, 201)
  const { resourceRules, nonResourceRules, incomplete } = JSON.parse(text).status
  assert.deepEqual(resourceRules, [
    { verbs: ['*'], apiGroups: ['*'], resources: ['configmaps'] },
    { verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['secrets'] },
  ])
  assert.deepEqual(nonResourceRules ?? [], [])
  assert.equal(incomplete, false)
})

test('a user without a policy for writing roles cannot create a role', async () => {
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]
  const sent = {
    method: 'POST',
    path,
    token: adminToken,
    headers: { 'impersonate-user': 'keeper' },
  }
  const { status } = await client.call({ ...sent, body: { metadata: { name: 'r' }, rules } })
  assert.equal(status, 403)
})
