/**
 * Tests the real metrics-server behind Keelson, with a simulated kubelet: `kubectl top` shows the
 * kubelet's values. Needs test/support/tools/install metrics-server.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { after, before, test } from 'node:test'
import { startEtcd } from '../../support/harness/etcd.ts'
import { Authority } from '../../support/harness/issued-certificate.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { type Kubectl, kubeconfig, kubectlFor } from '../../support/harness/kubectl.ts'
import { until } from '../../support/harness/until.ts'
import { type ExtensionProgram, hostService, startExtension } from './extension-program.ts'
import { prepareFrontProxy } from './front-proxy.ts'

const parts = new AsyncDisposableStack()
let kubectl: Kubectl
let extension: ExtensionProgram

/** Number of characters of metrics-server's log that are printed after a failure. */
const LOG_CHARS = 4000

const authority = new Authority('extension-ca')
const node = 'played'
/** Simulated CPU usage in cores: that of the node, and that of its only Pod. */
const NODE_CORES = 0.5
const POD_CORES = 0.1
const NODE_MIB = 512
const POD_MIB = 64

/** Returns metrics in the form in which a kubelet serves them at /metrics/resource. */
function resourceMetrics(startMs: number): string {
  const nowMs = Date.now()
  const seconds = (nowMs - startMs) / 1000 + 1000
  const pod = 'container="main",namespace="default",pod="busy"'
  return [
    `node_cpu_usage_seconds_total ${seconds * NODE_CORES} ${nowMs}`,
    `node_memory_working_set_bytes ${NODE_MIB << 20} ${nowMs}`,
    `container_start_time_seconds{${pod}} ${Math.floor(startMs / 1000) - 1000}`,
    `container_cpu_usage_seconds_total{${pod}} ${seconds * POD_CORES} ${nowMs}`,
    `container_memory_working_set_bytes{${pod}} ${POD_MIB << 20} ${nowMs}`,
    '',
  ].join('\n')
}

async function startPlayedKubelet(): Promise<number> {
  const startMs = Date.now()
  const { certificatePem, keyPem } = authority.issue({
    cn: node,
    usage: ['server'],
    hosts: ['127.0.0.1'],
  })
  const kubelet = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    if (request.url !== '/metrics/resource') return void response.writeHead(404).end()
    response
      .writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      .end(resourceMetrics(startMs))
  })
  kubelet.listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  parts.defer(async () => {
    kubelet.close()
    kubelet.closeAllConnections()
    await once(kubelet, 'close')
  })
  const address = kubelet.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

before(async () => {
  const etcd = parts.use(await startEtcd())
  const server = parts.use(
    await startKeelson({ etcdUrl: etcd.clientUrl, prepare: prepareFrontProxy }),
  )
  kubectl = parts.use(await kubectlFor(server))
  const kubeletPort = await startPlayedKubelet()
  const { certificatePem, keyPem } = authority.issue({
    cn: 'metrics-server',
    usage: ['server'],
    hosts: ['metrics-server.kube-system.svc'],
  })
  extension = parts.use(
    await startExtension({
      name: 'metrics-server',
      certificatePem,
      keyPem,
      kubeconfig: kubeconfig(server),
      // The shortest resolution that metrics-server accepts.
      args: [
        '--metric-resolution=10s',
        '--kubelet-request-timeout=5s',
        '--kubelet-insecure-tls',
        '--kubelet-use-node-status-port',
      ].concat('--kubelet-preferred-address-types=InternalIP'),
    }),
  )
  const resources = { cpu: '2', memory: '2Gi', pods: '110' }
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    allocatable: resources,
    capacity: resources,
    conditions: [{ type: 'Ready', status: 'True' }],
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'busy' } }
  const objects = [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: node }, status },
    { ...pod, spec: { nodeName: node, containers: [{ name: 'main', image: 'none' }] } },
    hostService('kube-system', 'metrics-server'),
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        caBundle: Buffer.from(authority.certificatePem).toString('base64'),
        service: { namespace: 'kube-system', name: 'metrics-server', port: extension.port },
      },
    },
  ]
  for (const [at, object] of objects.entries())
    await kubectl.out('create', '-f', await kubectl.file(`object-${at}.json`, object))
  // Set the phase of the Pod to Running, because metrics-server ignores other Pods.
  const running = '{"status":{"phase":"Running"}}'
  await kubectl.out('patch', 'pod', 'busy', '--subresource=status', '--type=merge', '-p', running)
})

after(() => parts.disposeAsync())

test('kubectl top shows the values of the kubelet', async () => {
  // When metrics-server becomes available, it has no values yet. It must first read the kubelet's
  // metrics twice.
  let said = ''
  const isThere = async (): Promise<boolean> => {
    const { code, err } = await kubectl.run('top', 'nodes')
    said = err
    return code === 0
  }
  await until(isThere, 'there are metrics of nodes').catch((error: unknown) => {
    throw new Error(`${said}\n${extension.log().slice(-LOG_CHARS)}`, { cause: error })
  })
  const [, name, cpu, memory] =
    /^(\S+) +(\d+)m +\d+% +(\d+)Mi/m.exec(await kubectl.out('top', 'nodes', '--no-headers')) ?? []
  assert.deepEqual([name, memory], [node, `${NODE_MIB}`])
  assert.ok(Math.abs(Number(cpu) - NODE_CORES * 1000) < 50, `half a core, not ${cpu}m`)
  await until(
    async () => (await kubectl.run('top', 'pods')).out.includes('busy'),
    'there are metrics of pods',
  )
  const [, podCpu, podMemory] =
    /^busy +(\d+)m +(\d+)Mi/m.exec(await kubectl.out('top', 'pods', '--no-headers')) ?? []
  assert.equal(podMemory, `${POD_MIB}`)
  assert.ok(Math.abs(Number(podCpu) - POD_CORES * 1000) < 20, `a tenth of a core, not ${podCpu}m`)
})
