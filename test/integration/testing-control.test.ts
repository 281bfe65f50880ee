/**
 * Tests the HTTPS requests that control keelson/testing. These requests must be accepted only if
 * this control is enabled, and only from authorized users.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cluster, type Kubeconfig, startCluster } from '../../src/entry/testing/index.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'

const root = join(import.meta.dirname, '..', '..')
/** Number of requests that are sent concurrently. */
const AT_ONCE = 50

type Answer = { readonly status: number; readonly body: string }
type Login = {
  readonly token?: string
  readonly certificate?: { certificatePem: string; keyPem: string }
  readonly headers?: OutgoingHttpHeaders
}

type ClusterAddress = Pick<Cluster, 'url' | 'certificateAuthority'>

/** Returns the client certificate of a kubeconfig. */
function loginOf({ users }: Kubeconfig): NonNullable<Login['certificate']> {
  const [{ user } = { user: {} }] = users
  const read = (field: string): string => {
    const value: unknown = Object.entries(user).find(([name]) => name === field)?.[1]
    return Buffer.from(String(value), 'base64').toString()
  }
  return { certificatePem: read('client-certificate-data'), keyPem: read('client-key-data') }
}

function call(
  cluster: ClusterAddress,
  method: string,
  path: string,
  { token, certificate, headers }: Login,
  body = '',
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const options = {
    method,
    ca: cluster.certificateAuthority,
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(certificate === undefined
      ? {}
      : { cert: certificate.certificatePem, key: certificate.keyPem }),
  }
  const sent = httpsRequest(`${cluster.url}${path}`, options, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
    )
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

test('the control paths below /keelson/testing do not exist unless they are enabled', async () => {
  await using cluster = await startCluster()
  const { token } = cluster
  assert.equal((await call(cluster, 'POST', '/keelson/testing/reset', { token })).status, 404)
})

test('only authorized users can use the control paths of a test cluster', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const { token, clientCertificate: certificate } = cluster
  assert.equal((await call(cluster, 'GET', '/keelson/testing/clock', { token })).status, 200)
  assert.equal((await call(cluster, 'GET', '/keelson/testing/clock', { certificate })).status, 200)
  for (const path of [
    '',
    'clock',
    'history',
    'timeline',
    'faults',
    'nothing',
    'reset',
    'forks',
    'stop',
    'snapshots/1/restore',
  ]) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status } = await call(cluster, method, `/keelson/testing/${path}`, {})
      assert.ok(
        status === 401 || status === 403,
        `${method} ${path} without credentials: ${status}`,
      )
      const wrong = await call(cluster, method, `/keelson/testing/${path}`, { token: 'wrong' })
      assert.equal(wrong.status, 401)
    }
  }
  const { body } = await cluster.request<{ status: { token: string } }>({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/default/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  const account = { token: body.status.token }
  assert.equal((await call(cluster, 'POST', '/keelson/testing/reset', account)).status, 403)
  const timeline = await call(cluster, 'GET', '/keelson/testing/timeline?verb=post', { token })
  assert.deepEqual(timeline, { status: 200, body: '{"entries":[]}' })
  assert.equal((await call(cluster, 'POST', '/keelson/testing/nothing', { token })).status, 404)
  assert.equal(
    (await call(cluster, 'POST', '/keelson/testing/faults', { token }, '[]')).status,
    400,
  )
  assert.equal((await call(cluster, 'POST', '/keelson/testing/faults', { token }, '{')).status, 400)
  // Add a fault that matches all requests. The request that removes this fault must still succeed.
  const all = JSON.stringify({ match: {}, effect: { status: 500 } })
  assert.equal((await call(cluster, 'POST', '/keelson/testing/faults', { token }, all)).status, 200)
  assert.equal((await call(cluster, 'GET', '/api/v1/pods', { token })).status, 500)
  assert.equal((await call(cluster, 'DELETE', '/keelson/testing/faults', { token })).status, 200)
  assert.equal((await call(cluster, 'GET', '/api/v1/pods', { token })).status, 200)
})

type Control = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<Answer & { readonly said: unknown }>

const controlOf =
  (cluster: Cluster): Control =>
  async (method, path, body) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = await call(
      cluster,
      method,
      `/keelson/testing/${path}`,
      { token: cluster.token },
      text,
    )
    return { ...answer, said: JSON.parse(answer.body) }
  }

function idIn(said: unknown): string {
  assert.ok(
    typeof said === 'object' && said !== null && 'id' in said && typeof said.id === 'string',
    String(said),
  )
  return said.id
}

const messageIn = (said: unknown): string =>
  typeof said === 'object' && said !== null && 'message' in said ? String(said.message) : ''

test('the credentials of a fork grant no permissions in the original cluster', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const user = { name: 'forker' }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  await cluster.request({
    method: 'POST',
    path: `${rbac}/clusterroles`,
    body: {
      metadata: { name: 'forker' },
      rules: [{ nonResourceURLs: ['/keelson/testing/forks'], verbs: ['post'] }],
    },
  })
  const bind = (name: string, role: string, subject: object) =>
    cluster.request({
      method: 'POST',
      path: `${rbac}/clusterrolebindings`,
      body: {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [subject],
      },
    })
  await bind('forker', 'forker', {
    kind: 'User',
    apiGroup: 'rbac.authorization.k8s.io',
    name: 'forker',
  })
  await bind('strong', 'cluster-admin', {
    kind: 'ServiceAccount',
    namespace: 'default',
    name: 'default',
  })
  const certificate = loginOf(cluster.kubeconfigFor(user))
  const secrets = '/api/v1/secrets'
  assert.equal((await call(cluster, 'GET', secrets, { certificate })).status, 403)
  const answer = await call(cluster, 'POST', '/keelson/testing/forks', { certificate })
  assert.equal(answer.status, 200)
  const { url, kubeconfig } = JSON.parse(answer.body)
  const { certificateAuthority } = cluster
  const fork = { url, certificateAuthority }
  const admin = loginOf(kubeconfig)
  // The fork accepts the credentials of the cluster from which it was forked. That cluster does not
  // accept the credentials of the fork.
  assert.equal((await call(fork, 'GET', secrets, { certificate: admin })).status, 200)
  assert.equal((await call(fork, 'GET', secrets, { certificate })).status, 403)
  assert.equal(
    (await call(fork, 'GET', secrets, { certificate: cluster.clientCertificate })).status,
    200,
  )
  assert.equal((await call(cluster, 'GET', secrets, { certificate: admin })).status, 401)
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const request = JSON.stringify({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  const tokenOf = async (place: ClusterAddress, login: Login): Promise<string> =>
    JSON.parse((await call(place, 'POST', path, login, request)).body).status.token
  const [inFork, inOrigin] = [
    await tokenOf(fork, { certificate: admin }),
    await tokenOf(cluster, { certificate: cluster.clientCertificate }),
  ]
  assert.equal((await call(fork, 'GET', secrets, { token: inFork })).status, 200)
  assert.equal((await call(fork, 'GET', secrets, { token: inOrigin })).status, 200)
  assert.equal((await call(cluster, 'GET', secrets, { token: inOrigin })).status, 200)
  assert.equal((await call(cluster, 'GET', secrets, { token: inFork })).status, 401)
})

test('every field of a control request is validated, and the error names the field', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const control = controlOf(cluster)
  for (const [method, path, body, message] of [
    ['POST', 'faults', { effect: { status: 500 }, extra: 1 }, /unknown field "extra"/],
    [
      'POST',
      'faults',
      { match: { times: '1' }, effect: { status: 500 } },
      /match\.times is not a number/,
    ],
    ['POST', 'faults', { match: [], effect: { status: 500 } }, /match is not an object/],
    [
      'POST',
      'faults',
      { match: {}, effect: { delayMs: 3e9 } },
      /effect\.delayMs 3000000000 is not between/,
    ],
    ['POST', 'faults', { match: {}, effect: { status: '500' } }, /effect\.status is not a number/],
    ['POST', 'faults', { match: {} }, /effect must be exactly one of/],
    ['POST', 'clock', {}, /advance must be milliseconds, or a duration/],
    ['POST', 'clock', { advance: true }, /advance must be milliseconds, or a duration/],
    ['POST', 'clock', { advance: 1e300 }, /cannot be moved/],
    ['POST', 'clock', { advance: '1h', by: 1 }, /unknown field "by"/],
    ['POST', 'kubeconfigs', {}, /name must be the name of the user/],
    ['POST', 'apply', { path: 'config' }, /path must be an absolute path/],
    ['POST', 'apply', { text: 'kind: ConfigMap' }, /line 1: apiVersion is missing/],
    ['POST', 'requests', { path: '/', method: 'get' }, /method must be one of: GET, POST/],
    ['POST', 'requests', { path: '/api/v1/pods?watch=1' }, /response that does not end/],
    ['GET', 'history?colour=red', undefined, /unknown parameter "colour"/],
    ['GET', 'history?after=x', undefined, /after is not a resourceVersion/],
    ['GET', 'timeline?colour=red', undefined, /unknown parameter "colour"/],
  ] as const) {
    const { status, said } = await control(method, path, body)
    assert.equal(status, 400, `${method} ${path} ${JSON.stringify(body)}`)
    assert.match(messageIn(said), message)
  }
  for (const [method, path] of [
    ['GET', 'faults/1'],
    ['DELETE', 'faults/1'],
    ['DELETE', 'snapshots/1'],
    ['POST', 'snapshots/1/restore'],
    ['POST', 'snapshots/1/restore/more'],
    ['POST', 'clock//'],
  ] as const) {
    assert.equal((await control(method, path)).status, 404, `${method} ${path}`)
  }
})

/** Adds faults or snapshots up to the limit `max`, and checks the error for one more. */
const fill = async (add: () => Promise<Answer>, max: number): Promise<void> => {
  for (let left = max; left > 0; left -= AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, add))
    for (const { status } of answers) assert.equal(status, 200)
  }
  const { status, body } = await add()
  assert.equal(status, 400)
  assert.match(body, /there are already \d+ .*: remove some, or reset/)
}

test('the numbers of injected faults and of snapshots are limited, and a reset removes all of them', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const control = controlOf(cluster)
  const set = (effect: unknown) => control('POST', 'faults', { match: { name: 'none' }, effect })
  const fault = idIn((await set({ status: 500 })).said)
  const snapshot = idIn((await control('POST', 'snapshots')).said)
  await fill(() => set({ staleRead: true }), 16)
  assert.equal((await control('POST', 'reset')).status, 200)
  assert.equal((await control('DELETE', `faults/${fault}`)).status, 404)
  assert.equal((await control('POST', `snapshots/${snapshot}/restore`)).status, 404)
  assert.equal((await set({ staleRead: true })).status, 200)
  await cluster.reset()
  await fill(() => set({ status: 500 }), 200)
})

test('requests with impersonation have the permissions of the impersonated user', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const { token } = cluster
  const as = (user: string, ...groups: readonly string[]) =>
    call(cluster, 'GET', '/keelson/testing/clock', {
      token,
      headers: {
        'impersonate-user': user,
        ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
      },
    })
  assert.equal((await as('alice')).status, 403)
  assert.equal((await as('alice', 'system:masters')).status, 200)
  const of = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }]
  const metadata = { name: 'bob' }
  const body = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: of,
    subjects,
  }
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  assert.equal((await cluster.request({ method: 'POST', path, body })).status, 201)
  assert.equal((await as('bob')).status, 200)
})

test('a program can send requests that injected faults do not affect, and get a kubeconfig for another user', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const control = controlOf(cluster)
  assert.deepEqual((await control('GET', '')).said, {
    url: cluster.url,
    token: cluster.token,
    kubeconfig: JSON.parse(JSON.stringify(cluster.kubeconfig)),
  })
  await control('POST', 'faults', { match: {}, effect: { status: 500 } })
  const path = '/api/v1/namespaces/default'
  assert.equal((await call(cluster, 'GET', path, { token: cluster.token })).status, 500)
  const { said } = await control('POST', 'requests', { path })
  assert.ok(typeof said === 'object' && said !== null && 'status' in said)
  assert.equal(said.status, 200)
  await control('DELETE', 'faults')

  const user = { name: 'alice', groups: ['dev'] }
  const asAlice = await control('POST', 'requests', { path, user })
  assert.match(asAlice.body, /^\{"status":403,/)
  const issued = JSON.parse((await control('POST', 'kubeconfigs', user)).body)
  const denied = await call(cluster, 'GET', path, { certificate: loginOf(issued.kubeconfig) })
  assert.equal(denied.status, 403)
  assert.match(denied.body, /User \\"alice\\"/)
})

test('keelson serve --testing also stops when its standard input ends', async () => {
  const child = spawn(keelsonProgram, ['serve', '--testing'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    assert.match(String(line), /^\{"url":"https:/)
    const gone = once(child, 'exit', { signal: AbortSignal.timeout(60_000) })
    child.stdin.end()
    assert.deepEqual(await gone, [0, null])
  } finally {
    child.kill('SIGKILL')
  }
})

test('keelson serve --testing accepts a start time and a list of controllers, and logs only warnings and errors', async () => {
  const flags = ['--testing-now', '2030-01-01T00:00:00Z', '--controllers=']
  const child = spawn(keelsonProgram, ['serve', '--testing', ...flags], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  try {
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    const { url, kubeconfig, version } = JSON.parse(String(line))
    assert.equal(version, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
    const read: Kubeconfig = JSON.parse(readFileSync(kubeconfig, 'utf8'))
    const authority = read.clusters[0]?.cluster['certificate-authority-data'] ?? ''
    const cluster = { url, certificateAuthority: Buffer.from(authority, 'base64').toString() }
    const login = { certificate: loginOf(read) }
    const clock = await call(cluster, 'GET', '/keelson/testing/clock', login)
    assert.match(clock.body, /^\{"now":"2030-01-01T00:/)
    // Create a Pod. The server runs without controllers, so its ServiceAccount admission plugin
    // must be disabled. Otherwise it would reject the Pod.
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
    const pods = '/api/v1/namespaces/default/pods'
    assert.equal((await call(cluster, 'POST', pods, login, pod)).status, 201)
    const gone = once(child, 'close', { signal: AbortSignal.timeout(60_000) })
    child.stdin.end()
    assert.deepEqual(await gone, [0, null])
    assert.equal(stderr, '')
  } finally {
    child.kill('SIGKILL')
  }
})
