/**
 * Compares kube-apiserver and Keelson behind konnectivity's real server and agent, with each of the
 * three protocols of that server. Requests to a webhook with a Service, requests to an aggregated
 * server and a large response pass through konnectivity. The script also compares the errors while
 * the agent or the server is down, and the responses after their restart. The script fails if any
 * response differs: `npm run konnectivity [-- --only grpc-uds] [--keelson-alone]`. First run
 * `test/support/tools/install konnectivity-server konnectivity-agent kube-apiserver etcd`.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { portOf } from '../../support/harness/port-of.ts'
import { startReference } from '../../support/harness/reference.ts'
import { until } from '../../support/harness/until.ts'
import { type Client, clients } from '../support.ts'
import { Konnectivity, type Way, ways } from './konnectivity-tools.ts'

/**
 * Cluster IP of the remote server. It is a loopback address, so that the agent can connect to the
 * server.
 */
const CLUSTER_IP = '127.0.93.9'
const LARGE_BYTES = 20 << 20
const group = 'far.example.com'

type Outcome = { readonly [step: string]: string }

const { certificatePem: cert, keyPem: key } = createSelfSigned(
  'far',
  ['far.default.svc'],
  Date.now(),
)

/** Serves a webhook and an aggregated API. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split('?')[0] ?? ''
  const say = (body: object): void => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  }
  if (path === '/hook') {
    void text(request).then((body) => {
      const { apiVersion, kind, request: asking } = JSON.parse(body)
      say({
        apiVersion,
        kind,
        response: { uid: asking.uid, allowed: false, status: { message: 'from afar' } },
      })
    })
  } else if (path === `/apis/${group}/v1`) {
    const resources = [
      { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] },
    ]
    say({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources })
  } else if (path.endsWith('/large')) {
    response.setHeader('content-type', 'application/json')
    response.end(Buffer.alloc(LARGE_BYTES, 'x'))
  } else if (path.endsWith('/small'))
    say({ kind: 'Thing', apiVersion: `${group}/v1`, metadata: { name: 'small' } })
  else {
    response.statusCode = 404
    response.end()
  }
}

async function run(way: Way, start: typeof startKeelson): Promise<Outcome> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'keelson-konnectivity-'))
  stack.defer(() => rm(dir, { recursive: true }))
  const port = await startFarServer(stack)
  const konnectivity = stack.use(await Konnectivity.start(dir, way))
  const config = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: konnectivity.connection }],
  }
  await writeFile(join(dir, 'egress.yaml'), JSON.stringify(config))
  const etcd = stack.use(await startEtcd())
  const server: ApiServerProcess = stack.use(
    await start({
      etcdUrl: etcd.clientUrl,
      omit: ['service-cluster-ip-range'],
      args: [
        `--egress-selector-config-file=${join(dir, 'egress.yaml')}`,
        '--service-cluster-ip-range=127.0.93.0/24',
      ],
    }),
  )
  const client = stack.use((clients['HTTP/1.1'] ?? assert.fail())(server.url))
  await prepare(client, port)
  const outcome: Record<string, string> = {}
  const look = async (when: string): Promise<void> => {
    outcome[`${when}: webhook`] = hidden(await reviewed(client), { dir, port })
    outcome[`${when}: aggregated`] = hidden(await aggregated(client, 'small'), { dir, port })
  }
  await until(
    async () => (await aggregated(client, 'small')).startsWith('200'),
    'the aggregated server is available',
  )
  await look('all there')
  outcome['all there: large answer'] = await aggregated(client, 'large')
  // Wait until the connections that went through the agent are closed. Otherwise the next request
  // might use one of them and fail.
  await konnectivity.stopAgent()
  await settled(client)
  await look('without the agent')
  await konnectivity.startAgent()
  await back(client)
  await look('agent is back')
  await konnectivity.stopServer()
  await settled(client)
  await look('without the server')
  await konnectivity.startServer()
  await konnectivity.connected()
  await back(client)
  await look('server is back')
  return outcome
}

/** Starts the webhook and aggregated server, and returns its port. */
async function startFarServer(stack: AsyncDisposableStack): Promise<number> {
  const far = createServer({ cert, key }, answer).listen(0, '0.0.0.0')
  stack.defer(() => {
    far.closeAllConnections()
    far.close()
  })
  await once(far, 'listening')
  return portOf(far)
}

/**
 * Errors that mean that the proxy has rejected a tunnel. Which of them occurs depends on whether
 * the second response of the proxy arrives together with the first one.
 */
const secondAnswer =
  /(?:unexpected 114 bytes of buffered data from CONNECT proxy "[^"]*"|http: server gave HTTP response to HTTPS client|tls: first record does not look like a TLS handshake)/

/** Returns a message without the parts that differ between runs. */
const hidden = (
  message: string,
  { dir, port }: { readonly dir: string; readonly port: number },
): string =>
  message
    .replaceAll(String(port), '$PORT')
    .replace(secondAnswer, 'the tunnel is refused')
    .replaceAll(dir, '$DIR')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:$PORT')

async function back(client: Client): Promise<void> {
  await until(
    async () => (await reviewed(client)).includes('from afar'),
    'the webhook is reached again',
  )
  await until(
    async () => (await aggregated(client, 'small')).startsWith('200'),
    'the aggregated server is back',
  )
}

/**
 * Waits until the connections of the webhook and of the aggregated server are closed, so that no
 * later request uses them.
 */
async function settled(client: Client): Promise<void> {
  await until(
    async () => !(await reviewed(client)).includes('EOF'),
    'the kept connection of the webhook is given up',
  )
  await until(
    async () => !(await aggregated(client, 'small')).startsWith('200'),
    'the aggregated server is away',
  )
}

async function prepare(client: Client, port: number): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text: said } = await client.call({ method: 'POST', path, body })
    assert.equal(status, 201, said)
  }
  const ports = [{ name: 'https', port }]
  await post('/api/v1/namespaces/default/services', {
    metadata: { name: 'far' },
    spec: { clusterIP: CLUSTER_IP, ports },
  })
  // Create Endpoints, which must exist although their address is never used. They must not contain
  // a loopback address.
  await post('/api/v1/namespaces/default/endpoints', {
    metadata: { name: 'far' },
    subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports }],
  })
  const caBundle = Buffer.from(cert).toString('base64')
  await post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'far' },
    webhooks: [
      {
        name: 'far.example.com',
        clientConfig: {
          caBundle,
          service: { namespace: 'default', name: 'far', path: '/hook', port },
        },
        sideEffects: 'None',
        timeoutSeconds: 3,
        admissionReviewVersions: ['v1'],
        rules: [
          {
            operations: ['CREATE'],
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['configmaps'],
          },
        ],
        objectSelector: { matchLabels: { far: 'yes' } },
      },
    ],
  })
  await post('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      caBundle,
      service: { namespace: 'default', name: 'far', port },
      groupPriorityMinimum: 1000,
      versionPriority: 15,
    },
  })
}

async function reviewed(client: Client): Promise<string> {
  const body = { metadata: { name: 'c', labels: { far: 'yes' } } }
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
  const { status, text: said } = await client.call({ method: 'POST', path, body })
  return `${status} ${JSON.parse(said).message}`
}

async function aggregated(client: Client, name: string): Promise<string> {
  const { status, text: said } = await client.call({
    path: `/apis/${group}/v1/namespaces/default/things/${name}`,
  })
  return `${status} ${said.length > 1000 ? `${said.length} bytes` : said.trim()}`
}

const at = process.argv.indexOf('--only')
const only = at === -1 ? undefined : process.argv[at + 1]
let differences = 0
for (const way of ways) {
  if (only !== undefined && only !== way) continue
  const keelson = await run(way, startKeelson)
  const reference = process.argv.includes('--keelson-alone')
    ? keelson
    : await run(way, startReference)
  for (const [step, said] of Object.entries(keelson)) {
    const wanted = reference[step]
    if (said === wanted) console.log(`${way}: ${step}: ${said}`)
    else {
      differences++
      console.log(`${way}: ${step} DIFFERS\n  reference: ${wanted}\n  keelson:   ${said}`)
    }
  }
}
console.log(`${differences} differences`)
process.exitCode = differences > 0 ? 1 : 0
