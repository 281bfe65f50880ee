/**
 * Tests the response to a write of a large object, which is serialized in parts. It must equal the
 * response to a read of the object, in every format.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clients, startTestServer } from './support.ts'

const path = '/api/v1/namespaces/default/configmaps'
const forms = [
  'application/json',
  'application/yaml',
  'application/cbor',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
]

test('the response to a write of a large object equals the response to a read', async () => {
  await using server = await startTestServer(['--feature-gates=CBORServingAndStorage=true'])
  const connect = clients['HTTP/2']
  assert.ok(connect)
  await using client = connect(server.url)
  const keys = Array.from({ length: 20_000 }, (_, at) => [`k${at}`, `"<${at}`] as const)
  const data = { ...Object.fromEntries(keys), long: 'a"\n\t'.repeat(40_000) }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data }
  assert.equal((await client.call({ method: 'POST', path, body })).status, 201)
  for (const [at, accept] of forms.entries()) {
    const object = `${path}/large?includeObject=Object`
    const patched = await client.call({
      method: 'PATCH',
      path: object,
      body: { metadata: { labels: { round: `${at}` } } },
      headers: { accept, 'content-type': 'application/merge-patch+json' },
    })
    const read = await client.call({ path: object, headers: { accept } })
    assert.deepEqual([patched.status, read.status], [200, 200], accept)
    assert.ok(withoutAges(patched.text) === withoutAges(read.text), accept)
  }
  assert.deepEqual(server.complaints, [])
})

/** Removes the ages in a Table, which may differ. */
const withoutAges = (text: string): string => text.replace(/"\d+s"/, '')
