/**
 * Tests explanations of permissions: the debug path, the permission to read it, and the command
 * `keelson auth why`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const parts = new AsyncDisposableStack()
let server: TestServer
let client: Client

before(async () => {
  server = parts.use(await startTestServer(['--authorization-mode=Node,RBAC']))
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
  await post('/api/v1/namespaces', { metadata: { name: 'shop' } })
  const rules = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]
  await post(`${rbac}/namespaces/shop/roles`, { metadata: { name: 'reader' }, rules })
  await post(`${rbac}/namespaces/shop/rolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'alice' }],
  })
})

after(async () => {
  await parts.disposeAsync()
  assert.deepEqual(server.complaints, [])
})

async function post(path: string, body: unknown): Promise<void> {
  const { status, text } = await client.call({ method: 'POST', path, token: adminToken, body })
  assert.equal(status, 201, text)
}

const why = async (query: string, token = adminToken) => {
  const { status, text } = await client.call({ path: `/debug/authorization?${query}`, token })
  return { status, text }
}

test('the explanation names the binding that allows the request, or else the binding that comes closest', async () => {
  const allowed = await why('user=alice&verb=get&resource=pods&namespace=shop')
  assert.equal(allowed.status, 200)
  const { authorizers, ...rest } = JSON.parse(allowed.text)
  assert.equal(rest.allowed, true)
  assert.equal(authorizers[1].grantedBy.binding.name, 'readers')
  const refused = JSON.parse(
    (await why('user=alice&verb=delete&resource=pods&namespace=shop')).text,
  )
  assert.equal(refused.allowed, false)
  assert.equal(refused.authorizers[1].nearest[0].differs, 'verb')
  const deployments = JSON.parse(
    (await why('user=alice&verb=get&resource=deployments&namespace=shop')).text,
  )
  assert.equal(deployments.attributes.apiGroup, 'apps')
})

test('a 403 response suggests kubectl commands only if the caller is allowed to read explanations', async () => {
  const path = '/api/v1/namespaces/shop/secrets'
  const headers = { 'impersonate-user': 'alice' }
  const asAdmin = await client.call({ path, token: adminToken, headers })
  assert.equal(asAdmin.status, 403)
  assert.equal(
    asAdmin.headers['warning'],
    '299 keelson "kubectl create role alice-list-secrets --verb=list --resource=secrets -n shop", ' +
      '299 keelson "kubectl create rolebinding alice-list-secrets --role=alice-list-secrets ' +
      '--user=alice -n shop"',
  )
  const withoutRight = await client.call({ path, token: 'bob-token' })
  assert.equal(withoutRight.status, 403)
  assert.equal(withoutRight.headers['warning'], undefined)
  assert.equal(
    asAdmin.text.replaceAll('alice', 'bob'),
    withoutRight.text,
    'the body does not depend on the caller',
  )
})

test('a user who is not allowed to read explanations of decisions does not even learn whether the query is valid', async () => {
  for (const query of ['user=alice&verb=get&resource=pods', 'nonsense', '']) {
    const { status, text } = await why(query, 'bob-token')
    assert.equal(status, 403)
    assert.match(text, /User \\"bob\\" cannot get path \\"\/debug\/authorization\\"/)
    assert.doesNotMatch(text, /readers|alice/)
  }
  await post(`${rbac}/clusterroles`, {
    metadata: { name: 'may-ask' },
    rules: [{ verbs: ['get'], nonResourceURLs: ['/debug/authorization'] }],
  })
  await post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'may-ask' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'may-ask' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'bob' }],
  })
  assert.equal((await why('user=alice&verb=get&resource=pods', 'bob-token')).status, 200)
})

for (const [query, message] of [
  ['verb=get&resource=pods', /user and verb are required/],
  ['user=a&verb=get', /either path or resource is required/],
  ['user=a&verb=get&resource=pods&path=/x', /either path or resource is required/],
  ['user=a&verb=get&resource=pods&color=red', /unknown parameter color/],
] as const) {
  test(`an invalid query is rejected: ${query}`, async () => {
    const { status, text } = await why(query)
    assert.equal(status, 400)
    assert.match(text, message)
  })
}

test('/debug/authorization accepts only GET requests, and unknown paths below /debug are not found', async () => {
  const { status } = await client.call({
    method: 'POST',
    path: '/debug/authorization',
    token: adminToken,
    body: {},
  })
  assert.equal(status, 405)
  assert.equal((await client.call({ path: '/debug/other', token: adminToken })).status, 404)
})

/** Runs the command in a separate process, because the server of this test must continue to run. */
function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const how = [`--server=${server.url}`, '--insecure-skip-tls-verify', `--token=${adminToken}`]
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, 'auth', 'why', ...how, ...args],
      { timeout: 60_000 },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err })
      },
    )
  })
}

test('keelson auth why prints the explanation as a tree', async () => {
  const { out, err } = await run('--as=alice', 'get', 'pods/p', '-n', 'shop')
  assert.equal(err, '')
  assert.equal(
    out,
    `alice may get pods p in the namespace shop
├─ Node (node): no opinion
└─ RBAC (rbac): allowed
   └─ by RoleBinding shop/readers to User alice
      └─ Role reader: get,list pods
`,
  )
})

test('keelson auth why exits with 1 if the request is denied, and shows commands that would allow the request', async () => {
  const { code, out, err } = await run('--as=alice', 'delete', 'po', '-n', 'shop')
  assert.deepEqual({ code, err }, { code: 1, err: '' })
  assert.equal(
    out,
    `alice may not delete pods in the namespace shop
├─ Node (node): no opinion
└─ RBAC (rbac): no opinion
   └─ closest grants:
      └─ other verbs: RoleBinding shop/readers to User alice
         └─ Role reader: get,list pods

To allow it, run:
  kubectl create role alice-delete-pods --verb=delete --resource=pods -n shop
  kubectl create rolebinding alice-delete-pods --role=alice-delete-pods --user=alice -n shop
`,
  )
})

test('keelson auth why accepts the short and singular names of a resource', async () => {
  for (const name of ['deploy', 'deployment', 'deployments', 'deployments.apps']) {
    const { out } = await run('--as=alice', '-A', 'list', name)
    assert.match(out, /^alice may not list deployments\.apps in the cluster\n/)
    assert.match(out, /create clusterrole alice-list-deployments .*--resource=deployments\.apps\n/)
  }
})

test('keelson auth why warns about an unknown verb or resource, and suggests another', async () => {
  const { err, out } = await run('--as=alice', 'gett', 'podz')
  assert.equal(
    err,
    'Warning: gett is not a standard verb; did you mean get?\n' +
      'Warning: the server has no resource podz; did you mean pods?\n',
  )
  assert.doesNotMatch(out, /kubectl create/)
})

test('the request is allowed after the suggested commands have run', async () => {
  const question = ['--as=carol', 'get', 'configmaps/app', '-n', 'shop'] as const
  const { out } = await run(...question, '-o', 'json')
  assert.deepEqual(JSON.parse(out).commandsToGrant, [
    'kubectl create role carol-get-configmaps --verb=get --resource=configmaps --resource-name=app -n shop',
    'kubectl create rolebinding carol-get-configmaps --role=carol-get-configmaps --user=carol -n shop',
  ])
  // Create the objects directly, instead of running these kubectl commands.
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['app'] },
  ]
  const name = 'carol-get-configmaps'
  await post(`${rbac}/namespaces/shop/roles`, { metadata: { name }, rules })
  await post(`${rbac}/namespaces/shop/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'Role', name },
    subjects: [{ apiGroup: group, kind: 'User', name: 'carol' }],
  })
  assert.equal((await run(...question)).code, 0)
})

test('keelson auth why reports a missing flag', async () => {
  assert.deepEqual(await run('get', 'pods'), {
    code: 2,
    out: '',
    err: 'keelson: --as is required, for example --as=alice\n',
  })
})
