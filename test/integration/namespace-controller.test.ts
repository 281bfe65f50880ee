/** Tests the deletion of namespaces by the controller inside the server. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let dir: string
let server: TestServer
let client: Client

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-namespaces-'))
  const rules = [
    { level: 'Metadata', users: ['system:serviceaccount:kube-system:namespace-controller'] },
    { level: 'None' },
  ]
  await writeFile(
    join(dir, 'policy'),
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules,
    }),
  )
  server = await startTestServer([
    '--controllers=namespace-controller',
    '--authorization-mode=RBAC',
    `--audit-policy-file=${join(dir, 'policy')}`,
    `--audit-log-path=${join(dir, 'audit.log')}`,
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function post(path: string, body: unknown): Promise<void> {
  const { status, text } = await client.call({ method: 'POST', path, body })
  assert.equal(status, 201, text)
}

const ask = async (path: string) => {
  const { status, text } = await client.call({ path })
  return { status, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

const remove = (path: string) => client.call({ method: 'DELETE', path })

const isGone = (name: string) => async (): Promise<boolean> =>
  (await ask(`/api/v1/namespaces/${name}`)).status === 404

test('deleting a namespace first deletes its contents, including those of kinds that were defined later', async () => {
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'lamps.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'lamps', kind: 'Lamp' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  })
  await until(
    async () => (await ask('/apis/example.com/v1/lamps')).status === 200,
    'lamps are served',
  )
  await post('/api/v1/namespaces', { metadata: { name: 'full' } })
  const paths = [
    '/api/v1/namespaces/full/configmaps',
    '/api/v1/namespaces/full/secrets',
    '/apis/example.com/v1/namespaces/full/lamps',
  ]
  for (const path of paths) {
    const kind = path.includes('lamps') ? { apiVersion: 'example.com/v1', kind: 'Lamp' } : {}
    for (const name of ['a', 'b']) await post(path, { ...kind, metadata: { name } })
  }
  const foreground = { metadata: { name: 'kept', finalizers: ['foregroundDeletion'] } }
  await post('/api/v1/namespaces/full/configmaps', foreground)
  await remove('/api/v1/namespaces/full')
  await until(isGone('full'), 'the namespace is gone')
  for (const path of paths) assert.deepEqual((await ask(path)).body.items, [], path)
  assert.deepEqual(server.complaints, [])
})

test('CVE-2024-7598: the policies of a namespace are kept until its pods are deleted', async () => {
  await post('/api/v1/namespaces', { metadata: { name: 'guarded' } })
  const pod = {
    metadata: { name: 'p', finalizers: ['example.com/runs'] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  await post('/api/v1/namespaces/guarded/pods', pod)
  const policy = { metadata: { name: 'deny' }, spec: { podSelector: {} } }
  const policies = '/apis/networking.k8s.io/v1/namespaces/guarded/networkpolicies'
  await post(policies, policy)
  await remove('/api/v1/namespaces/guarded')
  const conditionOf = async (): Promise<string> =>
    JSON.stringify((await ask('/api/v1/namespaces/guarded')).body.status)
  await until(
    async () => (await conditionOf()).includes('NamespaceDeletionContentFailure'),
    'the controller has processed the namespace',
  )
  assert.equal((await ask(`${policies}/deny`)).status, 200)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const released = { metadata: { finalizers: null } }
  await client.call({
    method: 'PATCH',
    path: '/api/v1/namespaces/guarded/pods/p',
    headers,
    body: released,
  })
  // No kubelet runs the Pod, so it is not removed after its grace period.
  await client.call({
    method: 'DELETE',
    path: '/api/v1/namespaces/guarded/pods/p?gracePeriodSeconds=0',
  })
  await until(isGone('guarded'), 'the namespace is gone')
})

test('contents with finalizers are reported in conditions, and the namespace is deleted after these contents', async () => {
  await post('/api/v1/namespaces', { metadata: { name: 'held' } })
  await post('/api/v1/namespaces/held/configmaps', {
    metadata: { name: 'a', finalizers: ['example.com/hold'] },
  })
  await remove('/api/v1/namespaces/held')
  type Condition = { type: string; status: string; message: string }
  const condition = async (type: string): Promise<Condition | undefined> =>
    (await ask('/api/v1/namespaces/held')).body.status.conditions?.find(
      (one: Condition) => one.type === type,
    )
  await until(
    async () => (await condition('NamespaceFinalizersRemaining')) !== undefined,
    'the condition is set',
  )
  assert.equal(
    (await condition('NamespaceContentRemaining'))?.message,
    'Some resources are remaining: configmaps. has 1 resource instances',
  )
  const { managedFields } = (await ask('/api/v1/namespaces/held')).body.metadata
  assert.ok(
    managedFields.some(({ manager }: { manager: string }) => manager === 'kube-controller-manager'),
  )
  const headers = { 'content-type': 'application/merge-patch+json' }
  const path = '/api/v1/namespaces/held/configmaps/a'
  await client.call({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } })
  await until(isGone('held'), 'the namespace is gone')
})

test('a namespace is kept while it has a finalizer of another controller', async () => {
  await post('/api/v1/namespaces', {
    metadata: { name: 'shared' },
    spec: { finalizers: ['example.com/other'] },
  })
  await remove('/api/v1/namespaces/shared')
  const path = '/api/v1/namespaces/shared'
  await until(
    async () => (await ask(path)).body.spec.finalizers.length === 1,
    'our finalizer is removed',
  )
  assert.deepEqual((await ask(path)).body.spec.finalizers, ['example.com/other'])
})

test('the namespace controller acts as its service account, which RBAC restricts and the audit log records', async () => {
  const lines = (await readFile(join(dir, 'audit.log'), 'utf8')).trim().split('\n')
  const verbs = new Set(lines.map((line) => JSON.parse(line).verb))
  assert.deepEqual(verbs, new Set(['delete', 'update']))
  const role =
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:namespace-controller'
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.call({ method: 'PATCH', path: role, headers, body: { rules: [] } })
  await post('/api/v1/namespaces', { metadata: { name: 'refused' } })
  await post('/api/v1/namespaces/refused/configmaps', { metadata: { name: 'a' } })
  await remove('/api/v1/namespaces/refused')
  const refusal = /namespace-controller.*cannot delete resource.*configmaps/
  await until(
    async () => server.complaints.some((line) => refusal.test(line)),
    'the deletion is refused',
  )
})
