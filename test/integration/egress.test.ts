/**
 * Tests a server whose connections go through proxies: to etcd over TLS, to the control plane by
 * HTTP CONNECT, and to the cluster by konnectivity's protocol. Each connection must use its proxy,
 * and fail with a clear error if the proxy is down.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createAuthority, createSelfSigned, issue } from '../../src/lib/x509/certificates.ts'
import {
  type EgressProxyServer,
  startConnectProxy,
  startGrpcProxy,
} from '../support/harness/egress-proxies.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { type Kubelet, startKubelet } from '../support/harness/kubelet.ts'
import { portOf } from '../support/harness/port-of.ts'
import {
  adminToken,
  type Answer,
  type Client,
  clients,
  startOn,
  type TestServer,
} from './support.ts'

/** Cluster IP of the webhook. It is a loopback address, so that the test can listen on it. */
const CLUSTER_IP = '127.0.91.9'

const stack = new AsyncDisposableStack()
let dir: string
let server: TestServer
let client: Client
let kubelet: Kubelet
let hookPort: number
let proxies: {
  etcd: EgressProxyServer
  controlplane: EgressProxyServer
  cluster: EgressProxyServer
}

const hookCertificate = createSelfSigned('hook', ['hook.default.svc', '127.0.0.1'], Date.now())
const post = (path: string, body: object): Promise<Answer> =>
  client.call({ method: 'POST', path, body })
const at = (name: string): string => join(dir, name)

/** Creates a webhook that denies requests with a recognizable message, and accepts every token. */
function createHook(): Server {
  const { certificatePem: cert, keyPem: key } = hookCertificate
  return createServer({ cert, key }, (request, response) => {
    void text(request).then((body) => {
      const { apiVersion, kind, request: asking } = JSON.parse(body)
      if (kind === 'TokenReview') {
        const status = {
          authenticated: true,
          user: { username: 'from-afar', groups: ['system:masters'] },
        }
        return response.end(JSON.stringify({ apiVersion, kind, status }))
      }
      const answer = {
        uid: asking.uid,
        allowed: false,
        status: { message: `no, at ${request.url?.split('?')[0]}` },
      }
      return response.end(JSON.stringify({ apiVersion, kind, response: answer }))
    })
  })
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-egress-'))
  stack.defer(() => rm(dir, { recursive: true }))
  proxies = await startProxies()
  hookPort = await startHook()
  await writeFile(at('egress.yaml'), JSON.stringify(egressConfig(proxies.etcd.port)))
  await writeFile(at('tokens.kubeconfig'), JSON.stringify(tokenReviewConfig(hookPort)))
  kubelet = stack.use(await startKubelet())
  const store = stack.use(await startEtcd())
  const flags = [
    `--egress-selector-config-file=${at('egress.yaml')}`,
    `--authentication-token-webhook-config-file=${at('tokens.kubeconfig')}`,
    '--service-cluster-ip-range=127.0.91.0/24',
  ]
  server = stack.use(await startOn(store, flags, { findHost: async () => '127.0.0.1' }))
  client = stack.use(clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client'))
})

/** Starts one proxy per egress. The proxy for etcd requires a client certificate. */
async function startProxies(): Promise<typeof proxies> {
  const authority = createAuthority('clients', Date.now())
  const own = issue(authority, {
    commonName: 'keelson',
    usage: 'client',
    hosts: [],
    nowMs: Date.now(),
  })
  const { certificatePem: cert, keyPem: key } = createSelfSigned('proxy', ['127.0.0.1'], Date.now())
  await Promise.all([
    writeFile(at('ca.pem'), cert),
    writeFile(at('client.pem'), own.certificatePem),
    writeFile(at('client.key'), own.keyPem),
  ])
  const tls = { cert, key, ca: authority.certificatePem }
  return {
    etcd: stack.use(await startConnectProxy({ tls })),
    controlplane: stack.use(await startConnectProxy({ path: at('controlplane.sock') })),
    cluster: stack.use(await startGrpcProxy({ path: at('cluster.sock') })),
  }
}

/** Starts the webhook and returns its port. */
async function startHook(): Promise<number> {
  const hook = createHook().listen(0, '0.0.0.0')
  stack.defer(() => {
    hook.closeAllConnections()
    hook.close()
  })
  await once(hook, 'listening')
  return portOf(hook)
}

const via = (proxyProtocol: string, transport: object): object => ({ proxyProtocol, transport })

function egressConfig(etcdProxyPort: number): object {
  const tlsConfig = {
    caBundle: at('ca.pem'),
    clientCert: at('client.pem'),
    clientKey: at('client.key'),
  }
  const url = `https://127.0.0.1:${etcdProxyPort}`
  return {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [
      { name: 'etcd', connection: via('HTTPConnect', { tcp: { url, tlsConfig } }) },
      {
        name: 'controlplane',
        connection: via('HTTPConnect', { uds: { udsName: at('controlplane.sock') } }),
      },
      { name: 'cluster', connection: via('GRPC', { uds: { udsName: at('cluster.sock') } }) },
    ],
  }
}

function tokenReviewConfig(port: number): object {
  const caData = Buffer.from(hookCertificate.certificatePem).toString('base64')
  const cluster = {
    server: `https://127.0.0.1:${port}/tokens`,
    'certificate-authority-data': caData,
  }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  }
}

after(() => stack.disposeAsync())

test('the server connects to etcd only through the configured proxy', async () => {
  const { host } = new URL(server.etcdUrl)
  assert.ok(proxies.etcd.dialed.length > 0)
  assert.deepEqual(new Set(proxies.etcd.dialed), new Set([host]))
})

async function configured(name: string, clientConfig: object): Promise<void> {
  const hook = {
    name: `${name}.example.com`,
    clientConfig: {
      ...clientConfig,
      caBundle: Buffer.from(hookCertificate.certificatePem).toString('base64'),
    },
    sideEffects: 'None',
    timeoutSeconds: 2,
    admissionReviewVersions: ['v1'],
    rules: [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ],
    objectSelector: { matchLabels: { for: name } },
  }
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const made = await post(path, { metadata: { name }, webhooks: [hook] })
  assert.equal(made.status, 201, made.text)
}

const reviewed = async (name: string): Promise<string> => {
  const object = { metadata: { name: 'c', labels: { for: name } } }
  const { text: body } = await post('/api/v1/namespaces/default/configmaps?dryRun=All', object)
  return String(JSON.parse(body).message)
}

test("a webhook with a URL is called through the control plane's proxy", async () => {
  await configured('by-url', { url: `https://127.0.0.1:${hookPort}/by-url` })
  assert.equal(
    await reviewed('by-url'),
    'admission webhook "by-url.example.com" denied the request: no, at /by-url',
  )
  assert.ok(proxies.controlplane.dialed.includes(`127.0.0.1:${hookPort}`))
})

test("a webhook with a Service is called through the cluster's proxy", async () => {
  const ports = [{ port: hookPort }]
  const service = { metadata: { name: 'hook' }, spec: { clusterIP: CLUSTER_IP, ports } }
  assert.equal((await post('/api/v1/namespaces/default/services', service)).status, 201)
  await configured('by-service', {
    service: { namespace: 'default', name: 'hook', port: hookPort, path: '/it' },
  })
  assert.equal(
    await reviewed('by-service'),
    'admission webhook "by-service.example.com" denied the request: no, at /it',
  )
  assert.deepEqual(new Set(proxies.cluster.dialed), new Set([`${CLUSTER_IP}:${hookPort}`]))
})

test("token reviews are sent through the control plane's proxy", async () => {
  const dialedBefore = proxies.controlplane.dialed.length
  const { status } = await client.call({
    path: '/api/v1/namespaces/default',
    token: 'nobody-knows-it',
  })
  assert.equal(status, 200)
  assert.ok(proxies.controlplane.dialed.length > dialedBefore)
})

test("requests for logs and commands reach the kubelet through the cluster's proxy", async () => {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  assert.equal((await post('/api/v1/nodes', { metadata: { name: 'n' }, status })).status, 201)
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  assert.equal(
    (await post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec })).status,
    201,
  )
  const pod = '/api/v1/namespaces/default/pods/p'
  assert.equal((await client.call({ path: `${pod}/log` })).text, 'first line\nsecond line\n')
  assert.equal((await client.call({ path: '/api/v1/nodes/n/proxy/x' })).status, 418)
  assert.deepEqual(proxies.cluster.dialed.slice(-2), Array(2).fill(`127.0.0.1:${kubelet.port}`))
  const asked = httpsRequest(`${server.url}${pod}/exec?command=x&stdin=true`, {
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', authorization: `Bearer ${adminToken}` },
    rejectUnauthorized: false,
  }).end()
  const [, tunnel] = await once(asked, 'upgrade')
  tunnel.write('echo this')
  const [heard] = await once(tunnel, 'data')
  assert.match(String(heard), /echo this/)
  tunnel.destroy()
})

test('connections through proxies are counted in metrics', async () => {
  const { text: metrics } = await client.call({ path: '/metrics' })
  for (const [protocol, transport] of [
    ['http_connect', 'tcp'],
    ['http_connect', 'uds'],
    ['grpc', 'uds'],
  ]) {
    const line = `apiserver_egress_dialer_dial_start_total{protocol="${protocol}",transport="${transport}"}`
    assert.ok(metrics.includes(line), line)
  }
})

test('a connection fails if its proxy is down', async () => {
  await proxies.controlplane[Symbol.asyncDispose]()
  await proxies.cluster[Symbol.asyncDispose]()
  const failed = 'failed calling webhook'
  assert.equal(
    await reviewed('by-url'),
    `Internal error occurred: ${failed} "by-url.example.com": failed to call webhook: Post "https://127.0.0.1:${hookPort}/by-url?timeout=2s": dial unix ${at('controlplane.sock')}: connect: no such file or directory`,
  )
  // This connection fails later than the others, because konnectivity's client waits for a missing
  // proxy until the deadline of the call.
  assert.equal(
    await reviewed('by-service'),
    `Internal error occurred: ${failed} "by-service.example.com": failed to call webhook: Post "https://hook.default.svc:${hookPort}/it?timeout=2s": context deadline exceeded`,
  )
})
