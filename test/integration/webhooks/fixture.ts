/**
 * Fixtures that the tests of this folder share. They consist of a server (Keelson in this process,
 * or kube-apiserver with WEBHOOKS_ON=reference) and the sample webhook. In addition, each test has
 * a namespace with a label that its webhooks select.
 */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, textOf } from '../../../src/api/object.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { startReference } from '../../support/harness/reference.ts'
import { type Call, type Client, clients } from '../support.ts'
import { CLUSTER_IP, SampleWebhook } from './sample-webhook.ts'

/** The Service of the webhook, for tests that configure the webhook with a Service. */
const SERVICE = { namespace: 'default', name: 'webhook' } as const
/** Maximum time until a configuration takes effect, which happens a moment after it is stored. */
const IN_FORCE_MS_MAX = 60_000

export const admission = '/apis/admissionregistration.k8s.io/v1'
export const validating = `${admission}/validatingwebhookconfigurations`
export const mutating = `${admission}/mutatingwebhookconfigurations`
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export type Answer = { readonly status: number; readonly body: Fields }
export type Reach = 'url' | 'service'

export class Fixture implements AsyncDisposable {
  readonly #parts: AsyncDisposableStack
  readonly #client: Client
  readonly #webhook: SampleWebhook
  #tests = 0

  private constructor(parts: AsyncDisposableStack, client: Client, webhook: SampleWebhook) {
    this.#parts = parts
    this.#client = client
    this.#webhook = webhook
  }

  static async start(): Promise<Fixture> {
    await using parts = new AsyncDisposableStack()
    const webhook = parts.use(
      await SampleWebhook.start([`${SERVICE.name}.${SERVICE.namespace}.svc`]),
    )
    const etcd = parts.use(await startEtcd())
    const start = process.env['WEBHOOKS_ON'] === 'reference' ? startReference : startKeelson
    const args = ['--service-cluster-ip-range=127.0.77.0/24']
    const server = parts.use(
      await start({ etcdUrl: etcd.clientUrl, args, omit: ['service-cluster-ip-range'] }),
    )
    const client = parts.use((clients['HTTP/2'] ?? assert.fail())(server.url))
    const fixture = new Fixture(parts.move(), client, webhook)
    await fixture.#publish()
    return fixture
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync()
  }

  async call(call: Call): Promise<Answer> {
    const { status, text } = await this.#client.call(call)
    // The body is plain text if the server does not serve the path yet.
    return { status, body: text.startsWith('{') ? JSON.parse(text) : {} }
  }

  lines(path: string): AsyncGenerator<string, void, void> {
    return this.#client.lines({ path })
  }

  /** Sends a write that must succeed, and returns the body of the response. */
  async write(call: Call): Promise<Fields> {
    const { status, body } = await this.call(call)
    assert.ok(status < 300, `${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  clientConfig(path: string, reach: Reach = 'url'): Fields {
    const { port, caBundle } = this.#webhook
    if (reach === 'url') return { url: `https://${CLUSTER_IP}:${port}${path}`, caBundle }
    return { service: { ...SERVICE, port, path }, caBundle }
  }

  /** Returns a name that no other test uses. */
  unique(): string {
    return `webhook-${process.pid}-${++this.#tests}`
  }

  async newNamespace(name: string, labels: Fields = {}): Promise<string> {
    await this.write({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name, labels } },
    })
    return name
  }

  /** Waits until `attempt` returns true. */
  async until(what: string, attempt: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + IN_FORCE_MS_MAX
    while (!(await attempt())) {
      assert.ok(performance.now() < endMs, `${what}: not after ${IN_FORCE_MS_MAX} ms`)
      await sleep(20)
    }
  }

  async #publish(): Promise<void> {
    const { port } = this.#webhook
    const path = `/api/v1/namespaces/${SERVICE.namespace}/services`
    const ports = [{ port }]
    const metadata = { name: SERVICE.name }
    await this.until(
      'the default namespace',
      async () => (await this.call({ path })).status === 200,
    )
    await this.until('the Service', async () => {
      const body = { metadata, spec: { clusterIP: CLUSTER_IP, ports } }
      return (await this.call({ method: 'POST', path, body })).status === 201
    })
    // Create an EndpointSlice, which only kube-proxy would use. The API server connects to the
    // cluster IP, because --enable-aggregator-routing is not set.
    const labels = { 'kubernetes.io/service-name': SERVICE.name }
    const endpoints = [{ addresses: ['192.0.2.1'], conditions: { ready: true } }]
    await this.write({
      method: 'POST',
      path: `/apis/discovery.k8s.io/v1/namespaces/${SERVICE.namespace}/endpointslices`,
      body: { metadata: { ...metadata, labels }, addressType: 'IPv4', endpoints, ports },
    })
  }
}

/** Starts one fixture for all tests of a file. */
export function fixtureOfFile(): () => Fixture {
  let fixture: Fixture | undefined
  before(async () => {
    fixture = await Fixture.start()
  })
  after(() => fixture?.[Symbol.asyncDispose]())
  return () => fixture ?? assert.fail('the fixture is available in tests only')
}

export const messageOf = ({ body }: Answer): string => textOf(body['message'])
export const dataOf = (object: Fields): Fields => fieldsOf(object['data'])
