/**
 * Tests the default roles of a new cluster. They are written directly to the store
 * (`request/verbs/store-own.ts`), with the same bytes that the request handler would write.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/time/clock.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { put } from '../support/harness/gateway.ts'
import { clients, startOn, startReplica, startTestServer } from './support.ts'

const options = {
  clock: { ...systemClock, wallMs: () => Date.UTC(2026, 10, 16) },
  ids: { uid: () => '00000000-0000-4000-8000-000000000000', nameSuffix: () => 'xxxxx' },
}
/** Key of the first default role. If it exists, the cluster is not new. */
const first = '/registry/clusterroles/admin'
const existing = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'admin',
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' },
  },
}

type StoredEntry = { readonly key: string; readonly value: string; readonly version: string }

const encode = (text: string): string => Buffer.from(text).toString('base64')

async function storedRoles(url: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const resource of ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings']) {
    const range = {
      key: encode(`/registry/${resource}/`),
      range_end: encode(`/registry/${resource}0`),
    }
    const answer = await fetch(`${url}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify(range),
    })
    const { kvs }: { readonly kvs: readonly StoredEntry[] } = JSON.parse(await answer.text())
    for (const { key, value, version } of kvs) {
      const name = Buffer.from(key, 'base64').toString()
      assert.equal(version, '1', `${name} is written once`)
      if (name !== first) found.set(name, value)
    }
  }
  return found
}

for (const media of ['application/json', 'application/vnd.kubernetes.protobuf']) {
  test(`default roles are stored as ${media} with the same bytes as if they were created by requests`, async () => {
    const flags = ['--authorization-mode=RBAC', `--storage-media-type=${media}`]
    await using newEtcd = await startEtcd()
    await using below = await startOn(newEtcd, flags, options)
    await using oldEtcd = await startEtcd()
    await put(oldEtcd.clientUrl, { key: first, value: JSON.stringify(existing) })
    await using through = await startOn(oldEtcd, flags, options)
    const stored = await storedRoles(below.etcdUrl)
    assert.ok(stored.size > 120)
    assert.deepEqual(stored, await storedRoles(through.etcdUrl))
    assert.deepEqual([...below.complaints, ...through.complaints], [])
  })
}

test('a missing binding system:public-info-viewer is created with the subjects of a changed binding system:discovery', async () => {
  const folder = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const flags = ['--authorization-mode=RBAC']
  const subjects = [
    { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' },
  ]
  const annotations = {
    'rbac.authorization.kubernetes.io/autoupdate': 'false',
    'example.com/by': 'operator',
  }
  await using server = await startTestServer(flags)
  {
    await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { annotations }, subjects }
    const patched = await client.call({
      method: 'PATCH',
      path: `${folder}/system:discovery`,
      headers,
      body,
    })
    assert.equal(patched.status, 200, patched.text)
    const deleted = await client.call({
      method: 'DELETE',
      path: `${folder}/system:public-info-viewer`,
    })
    assert.equal(deleted.status, 200, deleted.text)
  }
  await using replica = await startReplica(server, flags)
  await using client = clients['HTTP/2']?.(replica.url) ?? assert.fail()
  const { status, text } = await client.call({ path: `${folder}/system:public-info-viewer` })
  assert.equal(status, 200, text)
  const binding = JSON.parse(text)
  assert.deepEqual(binding.subjects, subjects)
  assert.deepEqual(binding.metadata.annotations, annotations)
  assert.equal(binding.roleRef.name, 'system:public-info-viewer')
})
