/** Tests that a server with a small heap survives users with roles that have huge rules. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiServer, type ApiServerProcess } from '../../support/harness/api-server.ts'
import { keelsonProgram } from '../../support/harness/keelson.ts'
import { type Call, type Client, clients } from '../../integration/support.ts'

/** Heap limit that Node uses in a container of 512 MB. */
const HEAP_MIB = 256
/** Number of roles of bob, and number of names in each. A role has about 1.1 MB. */
const ROLES = 5
const NAMES = 120_000

const group = 'rbac.authorization.k8s.io'
const parts = new AsyncDisposableStack()
let server: ApiServerProcess
let client: Client

before(async () => {
  const heap = `NODE_OPTIONS=--max-old-space-size=${HEAP_MIB}`
  const args = [
    '--store=memory',
    `--request-memory-max=${128 << 20}`,
    `--cache-memory-max=${128 << 20}`,
  ]
  const omit = ['etcd-servers']
  server = parts.use(
    await startApiServer(['env', heap, keelsonProgram, 'serve'], { etcdUrl: '', args, omit }),
  )
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
  for (let at = 0; at < ROLES; at++) {
    const resourceNames = Array.from({ length: NAMES }, (_, of) => `${of}.${at}`)
    await create(`large-${at}`, [
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames },
    ])
  }
  await create('writer', [{ verbs: ['*'], apiGroups: [group], resources: ['rolebindings'] }])
  for (const name of [...Array.from({ length: ROLES - 1 }, (_, at) => `large-${at}`), 'writer'])
    await send(`/apis/${group}/v1/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: group, kind: 'User', name: 'bob' }],
    })
})

after(() => parts.disposeAsync())

const create = (name: string, rules: readonly object[]): Promise<void> =>
  send(`/apis/${group}/v1/clusterroles`, { metadata: { name }, rules })

async function send(path: string, body: object): Promise<void> {
  const { status, text } = await client.call({ method: 'POST', path, token: server.token, body })
  assert.equal(status, 201, text.slice(0, 500))
}

const callAsBob = (call: Call) => client.call({ ...call, token: 'bob-token' })

/** Tries to create a binding, as bob, to a role whose permissions bob does not have. */
const bind = (at: number) =>
  callAsBob({
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/default/rolebindings`,
    body: {
      metadata: { name: `binding-${at}` },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: `large-${ROLES - 1}` },
      subjects: [{ apiGroup: group, kind: 'User', name: 'eve' }],
    },
  })

test('a server with a small heap survives many checks of large roles', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => bind(at)))
  for (const { status, text } of answers)
    assert.ok(status === 403 || status === 429, `${status} ${text.slice(0, 500)}`)
  const healthy = await client.call({ path: '/readyz', token: server.token })
  assert.equal(healthy.status, 200)
})

const review = () =>
  callAsBob({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: { spec: { namespace: 'default' } },
  })

test('a server with a small heap survives reviews of the rules of a user with large roles', async () => {
  const first = await review()
  assert.equal(first.status, 201, first.text.slice(0, 500))
  const { status } = JSON.parse(first.text)
  assert.equal(status.incomplete, true)
  assert.match(status.evaluationError, /at most 400000 entries and 3145728 bytes/)
  const answers = await Promise.all(Array.from({ length: 60 }, review))
  for (const answer of answers)
    assert.ok(answer.status === 201 || answer.status === 429, answer.text.slice(0, 500))
  const healthy = await client.call({ path: '/readyz', token: server.token })
  assert.equal(healthy.status, 200)
})

test('a server with a small heap survives many large roles', async () => {
  const resourceNames = Array.from({ length: 200_000 }, (_, of) => of.toString(36))
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames }]
  for (let at = 0; at < 40; at++) await create(`many-${at}`, rules)
  const healthy = await client.call({ path: '/readyz', token: server.token })
  assert.equal(healthy.status, 200)
})
