/**
 * Tests how a kubelet gets its credentials, with the real kube-controller-manager. With a bootstrap
 * token it requests a certificate, which is approved and signed. With the certificate, the node
 * registers itself and reads the objects to which its own Pods refer, but not those of other nodes.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord } from '../recorded/compat/json.ts'
import { ADMIN_TOKEN, type ApiServerProcess } from '../support/harness/api-server.ts'
import { authorityExtensions, CertificateTree } from '../support/harness/certificate-tree.ts'
import { startComponent } from '../support/harness/component.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { kubectlFor } from '../support/harness/kubectl.ts'

/**
 * Maximum time for signing a certificate. The controllers do not wait for a lease, but the machine
 * may be busy.
 */
const SIGNED_MS_MAX = 60_000
const POLL_MS = 200

const bootstrapToken = 'abcdef.0123456789abcdef'
const parts = new AsyncDisposableStack()
let server: ApiServerProcess | undefined

before(async () => {
  const etcd = parts.use(await startEtcd())
  const tree = parts.use(new CertificateTree())
  const ca = tree.make('ca', { extensions: authorityExtensions })
  server = await startKeelson({
    etcdUrl: etcd.clientUrl,
    args: ['--enable-bootstrap-token-auth', '--enable-admission-plugins=NodeRestriction'],
    prepare: async (dir) => {
      await writeFile(join(dir, 'ca.crt'), ca.certificatePem)
      await writeFile(join(dir, 'ca.key'), ca.keyPem, { mode: 0o600 })
      return [`--client-ca-file=${join(dir, 'ca.crt')}`]
    },
  })
  parts.use(server)
  const kubectl = parts.use(await kubectlFor(server))
  const manager = await startComponent('kube-controller-manager', join(kubectl.dir, 'config'), [
    '--controllers=certificatesigningrequest-approving-controller,certificatesigningrequest-signing-controller',
    `--cluster-signing-cert-file=${join(server.dir, 'ca.crt')}`,
    `--cluster-signing-key-file=${join(server.dir, 'ca.key')}`,
    '--leader-elect=false',
  ])
  parts.use(manager)
})

after(() => parts.disposeAsync())

type Credentials = { readonly token: string } | { readonly cert: string; readonly key: string }
type Answer = { readonly status: number; readonly body: Record<string, unknown> }

function call(who: Credentials, method: string, path: string, body?: object): Promise<Answer> {
  assert.ok(server)
  const headers = {
    ...('token' in who ? { authorization: `Bearer ${who.token}` } : {}),
    ...(body === undefined
      ? {}
      : {
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        }),
  }
  const identity = 'cert' in who ? who : {}
  const options = { method, headers, rejectUnauthorized: false, agent: false, ...identity } as const
  return new Promise((resolve, reject) => {
    const sent = request(`${server?.url}${path}`, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const parsed: unknown = JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, body: isRecord(parsed) ? parsed : {} })
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const admin = { token: ADMIN_TOKEN }
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

async function create(path: string, object: object): Promise<Record<string, unknown>> {
  const { status, body } = await call(admin, 'POST', path, object)
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

const bindGroup = (name: string, role: string, group: string) =>
  create(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  })

/** Creates a key and a certificate signing request, as a kubelet does. */
function makeRequest(
  name: string,
  subject: string,
): { readonly key: string; readonly csr: string } {
  assert.ok(server)
  const [key, csr] = [join(server.dir, `${name}.key`), join(server.dir, `${name}.csr`)]
  execFileSync('openssl', ['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', key], {
    stdio: 'pipe',
  })
  execFileSync('openssl', ['req', '-new', '-key', key, '-subj', subject, '-out', csr], {
    stdio: 'pipe',
  })
  return { key: readFileSync(key, 'utf8'), csr: readFileSync(csr, 'utf8') }
}

const requestObject = (name: string, csr: string): object => ({
  metadata: { name },
  spec: {
    request: Buffer.from(csr).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  },
})

/** Waits for the issued certificate of a request and returns it. */
async function signed(name: string): Promise<string> {
  const until = performance.now() + SIGNED_MS_MAX
  for (;;) {
    const { body } = await call(admin, 'GET', `${requests}/${name}`)
    const certificate = isRecord(body['status']) ? body['status']['certificate'] : undefined
    if (typeof certificate === 'string') return Buffer.from(certificate, 'base64').toString()
    assert.ok(performance.now() < until, `${name} is not signed: ${JSON.stringify(body['status'])}`)
    await sleep(POLL_MS)
  }
}

async function bootstrap(node: string): Promise<{ readonly cert: string; readonly key: string }> {
  const { key, csr } = makeRequest(node, `/O=system:nodes/CN=system:node:${node}`)
  const { status, body } = await call(
    { token: bootstrapToken },
    'POST',
    requests,
    requestObject(node, csr),
  )
  assert.equal(status, 201, JSON.stringify(body))
  return { cert: await signed(node), key }
}

const pod = (name: string, node: string, secretName: string): object => ({
  metadata: { name },
  spec: {
    nodeName: node,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName } }],
  },
})

test('a bootstrap token yields a certificate with access only to the pods and secrets of its own node', async () => {
  await create('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:test',
    },
  })
  await bindGroup('bootstrap', 'system:node-bootstrapper', 'system:bootstrappers:test')
  const approving = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'
  await bindGroup('approve', approving, 'system:bootstrappers:test')
  const core = '/api/v1/namespaces/default'

  // A kubelet with a bootstrap token may request certificates, but may not do anything else.
  assert.equal((await call({ token: bootstrapToken }, 'GET', `${core}/secrets`)).status, 403)
  assert.equal(
    (await call({ token: bootstrapToken }, 'POST', '/api/v1/nodes', { metadata: { name: 'x' } }))
      .status,
    403,
  )
  assert.equal((await call({ token: 'abcdef.0123456789abcdeg' }, 'GET', requests)).status, 401)

  const [one, two] = [await bootstrap('one'), await bootstrap('two')]
  for (const [node, who] of Object.entries({ one, two })) {
    const { status, body } = await call(who, 'POST', '/api/v1/nodes', { metadata: { name: node } })
    assert.equal(status, 201, JSON.stringify(body))
    await create(`${core}/secrets`, { metadata: { name: `of-${node}` } })
    await create(`${core}/pods`, pod(`on-${node}`, node, `of-${node}`))
  }
  const until = performance.now() + SIGNED_MS_MAX
  while ((await call(one, 'GET', `${core}/pods/on-one`)).status === 403) {
    assert.ok(performance.now() < until, 'the graph of nodes has no pods')
    await sleep(POLL_MS)
  }
  const status = async (path: string, who = one): Promise<number> =>
    (await call(who, 'GET', path)).status
  assert.equal(await status(`${core}/secrets/of-one`), 200)
  assert.equal(await status(`${core}/secrets/of-two`), 403)
  assert.equal(await status(`${core}/secrets/of-two`, two), 200)
  assert.equal(await status(`${core}/secrets`), 403)
  assert.equal(await status(`${core}/pods/on-two`), 403)
  assert.equal(await status('/api/v1/pods?fieldSelector=spec.nodeName%3Done'), 200)
  assert.equal(await status('/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo'), 403)
  assert.equal(await status('/api/v1/nodes/one'), 200)
  assert.equal(await status('/api/v1/nodes/two'), 403)
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
  assert.equal((await call(one, 'PATCH', '/api/v1/nodes/one/status', ready)).status, 200)
  assert.equal((await call(one, 'PATCH', '/api/v1/nodes/two/status', ready)).status, 403)

  // A node can renew its own certificate, but cannot request a certificate for another node.
  const renewed = makeRequest('renewed', '/O=system:nodes/CN=system:node:one')
  const stolen = makeRequest('stolen', '/O=system:nodes/CN=system:node:two')
  assert.equal(
    (await call(one, 'POST', requests, requestObject('renewed', renewed.csr))).status,
    201,
  )
  assert.equal((await call(one, 'POST', requests, requestObject('stolen', stolen.csr))).status, 403)
})
