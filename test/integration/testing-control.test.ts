/** keelson/testing over HTTPS: only where it is asked for, only for who may; and the helpers of other languages, which use it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type Cluster, startCluster } from '../../src/testing/index.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** Go compiles the helper first. */
const HELPER_MS_MAX = 300_000

type Answer = { readonly status: number; readonly body: string }
type Login = { readonly token?: string; readonly certificate?: { certificatePem: string; keyPem: string } }

function call(
  cluster: Cluster,
  method: string,
  path: string,
  { token, certificate }: Login,
  body = '',
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const options = {
    method,
    ca: cluster.certificateAuthority,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }),
  }
  const sent = httpsRequest(`${cluster.url}${path}`, options, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

test('the paths are not there unless they are asked for', async () => {
  await using cluster = await startCluster()
  const { token } = cluster
  assert.equal((await call(cluster, 'POST', '/keelson/testing/reset', { token })).status, 404)
})

test('only who may use them can', async () => {
  await using cluster = await startCluster({ servesControl: true })
  const { token, clientCertificate: certificate } = cluster
  assert.equal((await call(cluster, 'GET', '/keelson/testing/clock', { token })).status, 200)
  assert.equal((await call(cluster, 'GET', '/keelson/testing/clock', { certificate })).status, 200)
  for (const path of ['', 'clock', 'history', 'faults', 'nothing', 'reset', 'forks', 'stop', 'snapshots/1/restore']) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status } = await call(cluster, method, `/keelson/testing/${path}`, {})
      assert.ok(status === 401 || status === 403, `${method} ${path} of nobody: ${status}`)
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
  assert.equal((await call(cluster, 'POST', '/keelson/testing/nothing', { token })).status, 404)
  assert.equal((await call(cluster, 'POST', '/keelson/testing/faults', { token }, '[]')).status, 400)
  assert.equal((await call(cluster, 'POST', '/keelson/testing/faults', { token }, '{')).status, 400)
  // A fault of everything does not shut the test out.
  const all = JSON.stringify({ match: {}, effect: { status: 500 } })
  assert.equal((await call(cluster, 'POST', '/keelson/testing/faults', { token }, all)).status, 200)
  assert.equal((await call(cluster, 'GET', '/api/v1/pods', { token })).status, 500)
  assert.equal((await call(cluster, 'DELETE', '/keelson/testing/faults', { token })).status, 200)
  assert.equal((await call(cluster, 'GET', '/api/v1/pods', { token })).status, 200)
})

const helper = { KEELSON: `${process.execPath} ${join(root, 'src', 'main.ts')}` }
const options = (folder: string) => ({
  cwd: join(root, 'clients', folder),
  env: { ...process.env, ...helper, PYTHONDONTWRITEBYTECODE: '1' },
  timeout: HELPER_MS_MAX,
})

const isMissing = async (program: string): Promise<string | false> => {
  try {
    await run(program, [program === 'go' ? 'version' : '--version'])
    return false
  } catch {
    return `there is no ${program} here`
  }
}

test('the helper of Python', { skip: await isMissing('python3') }, async () => {
  const { stderr } = await run('python3', ['-m', 'unittest'], options('python'))
  assert.match(stderr, /OK/)
})

test('the helper of Go', { skip: await isMissing('go') }, async () => {
  const { stdout } = await run('go', ['test', '-count=1', './...'], options('go'))
  assert.match(stdout, /^ok/m)
})
