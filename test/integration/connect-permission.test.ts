/**
 * Tests the permissions that a WebSocket to a pod needs. A GET request opens a WebSocket. With the
 * gate AuthorizePodWebsocketUpgradeCreatePermission of 1.35, it also needs the verb create.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseText } from '../../src/api/json-value.ts'
import { fieldsOf, textOf } from '../../src/api/object.ts'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { clients } from './support.ts'

const subresources = ['exec', 'attach', 'portforward']
const verbsOf = { getter: ['get'], creator: ['get', 'create'] } as const
type UserName = keyof typeof verbsOf

let folder = ''
let tokens = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keelson-connect-permission-'))
  tokens = join(folder, 'tokens.csv')
  await writeFile(tokens, 'getter-token,getter,1\ncreator-token,creator,2\n')
})
after(() => rm(folder, { recursive: true }))

async function startWithPod(kubernetes: string, flags: readonly string[] = []): Promise<Cluster> {
  const cluster = await startCluster({
    kubernetes,
    controllers: false,
    flags: ['--authorization-mode=RBAC', `--token-auth-file=${tokens}`, ...flags],
  })
  const create = async (path: string, body: object): Promise<void> =>
    assert.equal((await cluster.request({ method: 'POST', path, body })).status, 201)
  const roles = '/apis/rbac.authorization.k8s.io/v1'
  for (const [name, verbs] of Object.entries(verbsOf)) {
    const resources = subresources.map((subresource) => `pods/${subresource}`)
    await create(`${roles}/clusterroles`, {
      metadata: { name },
      rules: [{ apiGroups: [''], resources, verbs }],
    })
    await create(`${roles}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    })
  }
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await create('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec })
  return cluster
}

/** Requests a WebSocket to each subresource. Returns the messages of the responses. */
async function openAs(user: UserName, { url }: Cluster): Promise<readonly string[]> {
  await using client = clients['HTTP/1.1']?.(url) ?? assert.fail('there is a client')
  const messages: string[] = []
  for (const subresource of subresources) {
    const { status, text } = await client.call({
      path: `/api/v1/namespaces/default/pods/p/${subresource}?command=ls`,
      token: `${user}-token`,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    messages.push(`${status} ${textOf(fieldsOf(parseText(text))['message'])}`)
  }
  return messages
}

/** The error after all permission checks, because the pod of these tests is not on a node. */
const permitted = subresources.map(() => '400 pod p does not have a host assigned')

test('in 1.35, a user that may only get a subresource of a pod cannot open a WebSocket to it', async () => {
  await using cluster = await startWithPod('1.35')
  const refused = subresources.map(() => '403 pods "p" is forbidden: ')
  assert.deepEqual(await openAs('getter', cluster), refused)
  assert.deepEqual(await openAs('creator', cluster), permitted)
})

const off = '--feature-gates=AuthorizePodWebsocketUpgradeCreatePermission=false'
for (const [title, kubernetes, flags] of [
  ['in 1.35 without the gate', '1.35', [off]],
  ['in 1.34', '1.34', []],
] as const)
  test(`${title}, a user that may only get a subresource of a pod can open a WebSocket to it`, async () => {
    await using cluster = await startWithPod(kubernetes, flags)
    assert.deepEqual(await openAs('getter', cluster), permitted)
  })
