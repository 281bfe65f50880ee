/**
 * Tests authorization webhooks on a whole server with TLS, a chain with match conditions, and a
 * configuration that is reloaded.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())
const folder = mkdtempSync(join(tmpdir(), 'keelson-authorization-'))
const configPath = join(folder, 'authorization.yaml')
const kubeconfigPath = join(folder, 'kubeconfig')

type Spec = {
  readonly user: string
  readonly resourceAttributes?: { readonly namespace?: string; readonly name?: string }
}
const asked: Spec[] = []
/**
 * Returns the webhook's answer to a review: the status of the review, or the status code of an
 * error response.
 */
let says: (spec: Spec) => object | number = () => ({ allowed: false })

let answersAfterMs = 0
let called = 0
/** Number of calls that the server aborted before it received the response. */
let aborted = 0

const hook: Server = createServer({ cert, key }, (request, response) => {
  called++
  response.on('close', () => void (aborted += response.writableEnded ? 0 : 1))
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => void pieces.push(piece))
  request.on('end', () => {
    const { spec, ...review } = JSON.parse(Buffer.concat(pieces).toString())
    asked.push(spec)
    const status = says(spec)
    setTimeout(() => {
      if (typeof status === 'number') response.writeHead(status).end('broken')
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...review, status }))
    }, answersAfterMs).unref()
  })
})

/**
 * The longest timeout that can be configured. A call that ends earlier therefore ended for another
 * reason.
 */
const HOOK_TIMEOUT_MS = 30_000

const configOf = (failurePolicy: string, namespace: string, more = ''): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: guard
  webhook:
    timeout: ${HOOK_TIMEOUT_MS / 1000}s
    authorizedTTL: 1ms
    unauthorizedTTL: 1ms
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: ${failurePolicy}
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${kubeconfigPath}}
    matchConditions:
    - expression: has(request.resourceAttributes)
    - expression: request.resourceAttributes.namespace == '${namespace}'
- {type: RBAC, name: rbac}
${more}`

const parts = new AsyncDisposableStack()
let server: TestServer
let client: Client

before(async () => {
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const address = hook.address()
  assert.ok(typeof address === 'object' && address !== null)
  const authority = Buffer.from(cert).toString('base64')
  writeFileSync(
    kubeconfigPath,
    `clusters: [{name: c, cluster: {server: "https://127.0.0.1:${address.port}/authorize", certificate-authority-data: ${authority}}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
  )
  writeFileSync(configPath, configOf('NoOpinion', 'guarded'))
  server = parts.use(await startTestServer([`--authorization-config=${configPath}`]))
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
})

after(async () => {
  await parts.disposeAsync()
  hook.closeAllConnections()
  hook.close()
  rmSync(folder, { recursive: true })
})

const read = async (namespace: string, token = 'bob-token') => {
  const { status, text } = await client.call({
    path: `/api/v1/namespaces/${namespace}/configmaps/none`,
    token,
  })
  return { status, text }
}

test('the webhook decides about requests that match its conditions, and the next authorizer about other requests', async () => {
  says = ({ user }) => ({ allowed: user === 'bob', reason: 'because' })
  assert.equal((await read('guarded')).status, 404)
  assert.equal(asked.at(-1)?.user, 'bob')
  const count = asked.length
  assert.equal((await read('other')).status, 403)
  assert.equal(asked.length, count)
})

test('a denial by the webhook ends the authorizer chain, and the reason of the denial is returned', async () => {
  says = () => ({ denied: true, reason: 'not today' })
  await sleep(5)
  const { status, text } = await read('guarded')
  assert.equal(status, 403)
  assert.match(text, /cannot get resource .* in the namespace \\"guarded\\": not today"/)
})

test('if the webhook has no opinion, the next authorizer decides, and requests of system:masters are not sent to the webhook', async () => {
  says = () => ({ allowed: false, reason: 'who knows' })
  await sleep(5)
  const { status, text } = await read('guarded')
  assert.equal(status, 403)
  assert.match(text, /: who knows"/)
  const count = asked.length
  assert.equal((await read('guarded', adminToken)).status, 404)
  assert.equal(asked.length, count)
})

test('if the webhook fails and no later authorizer decides, the request fails with 500', async () => {
  says = () => 403
  await sleep(5)
  const { status, text } = await read('guarded')
  assert.equal(status, 500)
  assert.equal(
    text,
    'Internal Server Error: "/api/v1/namespaces/guarded/configmaps/none": broken\n',
  )
})

test('an access review returns the decision of the webhook, or its failure', async () => {
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const spec = {
    user: 'carol',
    resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'guarded' },
  }
  const ask = async () => {
    const { text } = await client.call({ method: 'POST', path, token: adminToken, body: { spec } })
    return JSON.parse(text).status
  }
  says = () => ({ denied: true, reason: 'never' })
  assert.deepEqual(await ask(), { allowed: false, denied: true, reason: 'never' })
  says = () => 404
  await sleep(5)
  const evaluationError = 'the server could not find the requested resource'
  assert.deepEqual(await ask(), { allowed: false, evaluationError })
})

test('if a request times out before the webhook denies it, the next authorizer is not called', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const body = {
    metadata: { name: 'carol' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  }
  assert.equal(
    (await client.call({ method: 'POST', path: roles, token: adminToken, body })).status,
    201,
  )
  await until(async () => (await read('other')).status === 404, 'other is answered with 404')
  says = () => ({ denied: true })
  answersAfterMs = 100
  for (const what of ['configmaps', 'configmaps/none', 'none']) {
    const path = `/api/v1/namespaces/guarded/${what}?timeout=2ms`
    const { status, text } = await client.call({ path, token: 'bob-token' })
    assert.equal(status, 504, text)
    assert.match(text, /request did not complete within the allotted timeout/)
  }
  answersAfterMs = 0
  assert.equal(
    (await client.call({ method: 'DELETE', path: `${roles}/carol`, token: adminToken })).status,
    200,
  )
  await until(async () => (await read('other')).status === 403, 'other is answered with 403')
})

test('when an access review ends, its webhook call is aborted', async () => {
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=200ms'
  const spec = {
    user: 'carol',
    resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'guarded' },
  }
  answersAfterMs = 2 * HOOK_TIMEOUT_MS
  const earlier = { called, aborted }
  // Repeat the request, because on a busy machine it may time out before the server calls the
  // webhook.
  await until(async () => {
    const { status } = await client.call({
      method: 'POST',
      path,
      token: adminToken,
      body: { spec },
    })
    assert.equal(status, 504)
    return called > earlier.called
  }, 'the webhook is called')
  await until(
    () => aborted - earlier.aborted === called - earlier.called,
    'all calls are aborted',
    HOOK_TIMEOUT_MS / 2,
  )
  answersAfterMs = 0
})

const metric = async (name: RegExp): Promise<string> => {
  const { text } = await client.call({ path: '/metrics', token: adminToken })
  return text.split('\n').find((line) => name.test(line)) ?? ''
}
const reloads = (status: string): Promise<string> =>
  metric(
    new RegExp(
      `^apiserver_authorization_config_controller_automatic_reloads_total.*status="${status}"`,
    ),
  )

test('a changed authorization configuration takes effect after its reload, and an invalid one is ignored', async () => {
  says = () => ({ allowed: true })
  assert.match(await reloads('success'), / 1$/)
  writeFileSync(configPath, configOf('NoOpinion', 'elsewhere'))
  await until(
    async () => (await read('elsewhere')).status === 404,
    'elsewhere is answered with 404',
    WATCHED_MS,
  )
  assert.equal((await read('guarded')).status, 403)
  assert.match(await reloads('success'), / 2$/)
  writeFileSync(configPath, configOf('Whatever', 'guarded'))
  await until(
    async () => (await reloads('failure')).endsWith(' 1'),
    'one failure is counted',
    WATCHED_MS,
  )
  assert.equal((await read('elsewhere')).status, 404)
  writeFileSync(
    configPath,
    configOf(
      'NoOpinion',
      'guarded',
      '- {type: AlwaysAllow, name: alwaysallow}\n- {type: ABAC, name: abac}\n',
    ),
  )
  await until(
    async () => (await reloads('failure')).endsWith(' 2'),
    'two failures are counted',
    WATCHED_MS,
  )
  assert.equal((await read('guarded')).status, 403)
  assert.deepEqual(
    server.complaints
      .filter((text) => text.includes('authorization config'))
      .map((text) => JSON.parse(text.slice(text.indexOf('{'))).error),
    [
      'authorizers[0].failurePolicy: Unsupported value: "Whatever": supported values: "NoOpinion", "Deny"',
      'authorizer type ABAC is not allowed if it was not enabled at initial server startup',
    ],
  )
})

test('with failurePolicy Deny, an error ends the authorizer chain', async () => {
  writeFileSync(
    configPath,
    configOf('Deny', 'strict', '- {type: AlwaysAllow, name: alwaysallow}\n'),
  )
  says = () => 403
  await until(
    async () => (await read('anywhere')).status === 404,
    'anywhere is answered with 404',
    WATCHED_MS,
  )
  assert.equal((await read('strict')).status, 500)
})
