/** Tests servers on which a beta feature gate is turned off. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseText } from '../../src/api/json-value.ts'
import { fieldsOf, itemsOf, textOf, textsOf } from '../../src/api/object.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--authorization-mode=RBAC',
    '--feature-gates=APIServerIdentity=false,KubeletFineGrainedAuthz=false',
  ])
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = made
  await until(
    async () => (await client.call({ path: '/readyz' })).status === 200,
    'the server is ready',
  )
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test('without APIServerIdentity, the server has no Lease, and /readyz does not check the Lease', async () => {
  const { text } = await client.call({ path: '/readyz?verbose' })
  assert.doesNotMatch(text, /identity-lease/)
  const leases = await client.call({
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
  })
  const names = itemsOf(fieldsOf(parseText(leases.text))['items']).map(({ metadata }) =>
    textOf(fieldsOf(metadata)['name']),
  )
  assert.deepEqual(
    names.filter((name) => name.startsWith('apiserver-')),
    [],
  )
})

test('without KubeletFineGrainedAuthz, the role system:kubelet-api-admin has no rules for single kubelet endpoints', async () => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kubelet-api-admin'
  const { text } = await client.call({ path })
  const resources = itemsOf(fieldsOf(parseText(text))['rules']).flatMap((rule) =>
    textsOf(rule['resources']),
  )
  assert.ok(resources.includes('nodes/proxy'))
  assert.ok(!resources.includes('nodes/pods'))
})
