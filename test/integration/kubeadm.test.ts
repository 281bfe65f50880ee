/**
 * Tests deploy/kube-apiserver.yaml. The server starts with exactly the flags that kubeadm writes,
 * with etcd and files like those that kubeadm creates, and it accepts the manifest as a Pod.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { EtcdProcess, freePorts } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { Authority, type IssuedCertificate } from '../support/harness/issued-certificate.ts'
import { writeKubeadmFiles } from '../support/harness/kubeadm-files.ts'
import { until } from '../support/harness/until.ts'

const root = join(import.meta.dirname, '..', '..')
/**
 * Maximum time until a program is ready. It takes a second on an idle machine, but minutes on a
 * busy one.
 */
const READY_MS_MAX = 300_000
const manifest = readFileSync(join(root, 'deploy', 'kube-apiserver.yaml'), 'utf8')
const flags = [...manifest.matchAll(/^ +- (--\S+)$/gm)].map(([, flag = '']) => flag)

/** Flags that kubeadm v1.33 writes for a cluster with a local etcd and default settings. */
const flagsOfKubeadm =
  `advertise-address allow-privileged authorization-mode client-ca-file enable-admission-plugins enable-bootstrap-token-auth
  etcd-cafile etcd-certfile etcd-keyfile etcd-servers kubelet-client-certificate kubelet-client-key kubelet-preferred-address-types proxy-client-cert-file
  proxy-client-key-file requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers
  requestheader-username-headers secure-port service-account-issuer service-account-key-file service-account-signing-key-file service-cluster-ip-range
  tls-cert-file tls-private-key-file`.split(/\s+/)

const parts = new AsyncDisposableStack()
const dir = mkdtempSync(join(tmpdir(), 'keelson-kubeadm-'))
parts.defer(() => rmSync(dir, { recursive: true, force: true }))
const pki = join(dir, 'pki')
const authority = new Authority('kubernetes')
const frontProxyAuthority = new Authority('front-proxy-ca')
const admin = authority.issue({ cn: 'kubernetes-super-admin', o: ['system:masters'] })
let port = 0
let server: ChildProcess
let reported = ''

before(async () => {
  const etcdAuthority = new Authority('etcd-ca')
  writeKubeadmFiles(pki, { authority, frontProxyAuthority, etcdAuthority })
  const [serverPort = 0, client = 0, peer = 0, metrics = 0] = await freePorts(4)
  port = serverPort
  await startEtcd(client, peer, metrics)
  const args = flags.map((flag) =>
    flag
      .replaceAll('/etc/kubernetes/pki', pki)
      .replace('192.0.2.10', '127.0.0.1')
      .replace(/^--secure-port=.*/, `--secure-port=${port}`)
      .replace('127.0.0.1:2379', `127.0.0.1:${client}`),
  )
  server = spawn(keelsonProgram, ['serve', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (reported += text))
  parts.defer(async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGTERM')
    await gone
  })
  await until(
    async () => {
      assert.equal(server.exitCode, null, reported)
      return (await ask({ path: '/readyz' })).status === 200
    },
    'the server is ready',
    READY_MS_MAX,
  )
})
after(() => parts.disposeAsync())

/** Starts an etcd with those flags of kubeadm's etcd that affect clients. */
async function startEtcd(client: number, peer: number, metrics: number): Promise<void> {
  const url = `https://127.0.0.1:${client}`
  const etcd = parts.use(
    new EtcdProcess(join(dir, 'etcd'), `http://127.0.0.1:${metrics}`, [
      `--data-dir=${join(dir, 'etcd', 'data')}`,
      `--advertise-client-urls=${url}`,
      `--listen-client-urls=${url}`,
      `--listen-metrics-urls=http://127.0.0.1:${metrics}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      '--client-cert-auth=true',
      `--cert-file=${join(pki, 'etcd', 'server.crt')}`,
      `--key-file=${join(pki, 'etcd', 'server.key')}`,
      `--trusted-ca-file=${join(pki, 'etcd', 'ca.crt')}`,
    ]),
  )
  await etcd.start({ wait: false })
  await etcd.ready(READY_MS_MAX)
}

type RequestOptions = {
  readonly path: string
  readonly method?: string
  readonly body?: string
  readonly type?: string
  /** The client's certificate. Null for an anonymous request. */
  readonly as?: IssuedCertificate | null
  readonly headers?: { readonly [name: string]: string }
}

/**
 * Sends a request. The status is 0 if there is no response, for example because the server's
 * certificate is not valid for its address.
 */
function ask({
  path,
  method = 'GET',
  body,
  type = 'application/json',
  as = admin,
  headers = {},
}: RequestOptions) {
  const identity = as === null ? {} : { cert: as.certificatePem, key: as.keyPem }
  return new Promise<{ status: number; text: string }>((resolve) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      ca: authority.certificatePem,
      agent: false,
      ...identity,
    }
    request(
      {
        ...options,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': type }) },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (more: string) => (text += more))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
      .on('error', () => resolve({ status: 0, text: '' }))
      .end(body)
  })
}

test('the static Pod manifest has exactly the flags of kubeadm', () => {
  assert.deepEqual(
    flags.map((flag) => /^--([^=]+)/.exec(flag)?.[1] ?? '').toSorted(),
    flagsOfKubeadm.toSorted(),
  )
})

test('the static Pod manifest names the image of this version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.match(manifest, new RegExp(`image: localhost/keelson:${version}$`, 'm'))
})

test("kubeadm's administrator, kubelets and front proxies are authenticated", async () => {
  const asReview = {
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    method: 'POST',
    body: '{}',
  }
  assert.match((await ask(asReview)).text, /"username":"kubernetes-super-admin"/)
  const node = authority.issue({ cn: 'system:node:node1', o: ['system:nodes'] })
  assert.match((await ask({ ...asReview, as: node })).text, /"username":"system:node:node1"/)
  const proxy = frontProxyAuthority.issue({ cn: 'front-proxy-client' })
  const review = await ask({
    ...asReview,
    as: proxy,
    headers: { 'x-remote-user': 'jane', 'x-remote-group': 'dev' },
  })
  assert.match(review.text, /"username":"jane"/)
  assert.equal((await ask({ path: '/api/v1/secrets', as: null })).status, 403)
})

test('the static Pod manifest is a valid Pod', async () => {
  const account = JSON.stringify({ metadata: { name: 'default' } })
  const accounts = '/api/v1/namespaces/kube-system/serviceaccounts'
  const made = await ask({ path: accounts, method: 'POST', body: account })
  assert.equal(made.status, 201, made.text)
  const path = '/api/v1/namespaces/kube-system/pods?dryRun=All&fieldValidation=Strict'
  const pod = await ask({ path, method: 'POST', body: manifest, type: 'application/yaml' })
  assert.equal(pod.status, 201, pod.text)
})
