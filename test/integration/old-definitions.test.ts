/** Tests definitions that were stored as v1beta1, with schemas that v1 would reject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf } from '../../src/api/object.ts'
import { type Client, clients, startTestServer } from './support.ts'

const name = 'noxus.mygroup.example.com'
const old = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  metadata: { name, creationTimestamp: null },
  spec: {
    group: 'mygroup.example.com',
    names: { plural: 'noxus', singular: 'noxu', kind: 'Noxu', listKind: 'NoxuList' },
    scope: 'Cluster',
    validation: { openAPIV3Schema: { properties: { TypeFooBar: { type: 'array' } } } },
    versions: [{ name: 'v1beta1', served: true, storage: true }],
  },
  status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
}

async function established(client: Client): Promise<void> {
  while ((await client.call({ path: '/apis/mygroup.example.com/v1beta1/noxus' })).status !== 200)
    await sleep(50)
}

test('objects of a definition without a structural schema can be applied', {
  timeout: 120_000,
}, async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const put = {
    key: btoa(`/registry/apiextensions.k8s.io/customresourcedefinitions/${name}`),
    value: btoa(JSON.stringify(old)),
  }
  const stored = await fetch(`${server.etcdUrl}/v3/kv/put`, {
    method: 'POST',
    body: JSON.stringify(put),
  })
  assert.equal(stored.status, 200)
  await established(client)
  const path = '/apis/mygroup.example.com/v1beta1/noxus/mytest'
  const send = async (
    type: string,
    body: object,
    query = '',
  ): Promise<{ status: number; text: string }> =>
    client.call({ method: 'PATCH', path: path + query, body, headers: { 'content-type': type } })
  const applied = {
    apiVersion: 'mygroup.example.com/v1beta1',
    kind: 'Noxu',
    metadata: { name: 'mytest' },
    spec: { replicas: 1 },
  }
  const apply = 'application/apply-patch+yaml'
  const made = await send(apply, applied, '?fieldManager=apply_test')
  assert.equal(made.status, 201, made.text)
  assert.equal((await send('application/merge-patch+json', { spec: { replicas: 5 } })).status, 200)
  const refused = await send(apply, applied, '?fieldManager=apply_test')
  assert.equal(refused.status, 409, refused.text)
  assert.equal((await send(apply, applied, '?fieldManager=apply_test&force=true')).status, 200)
  const document = JSON.parse(
    (await client.call({ path: '/openapi/v3/apis/mygroup.example.com/v1beta1' })).text,
  )
  const published = fieldsOf(document.components.schemas['com.example.mygroup.v1beta1.Noxu'])
  assert.deepEqual(published, {
    type: 'object',
    'x-kubernetes-group-version-kind': [
      { group: 'mygroup.example.com', kind: 'Noxu', version: 'v1beta1' },
    ],
  })
})
