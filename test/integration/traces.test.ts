/**
 * Tests traces of requests as a collector receives them. `COLLECTOR=go` uses a real collector
 * (test/integration/observe/receiver.ts).
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { freePorts } from '../support/harness/etcd.ts'
import { until } from '../support/harness/until.ts'
import { type ReceivedSpan, type Receiver, startReceiver } from './observe/receiver.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-traces-'))
let receiver: Receiver
let server: TestServer
let client: Client

/**
 * Returns the flag for a tracing configuration. With a sampling rate of 0, only traces of
 * privileged clients are continued.
 */
const config = (endpoint: string, rate = 0): string => {
  const file = join(folder, `tracing-${rate}.yaml`)
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: ${endpoint}\nsamplingRatePerMillion: ${rate}\n`,
  )
  return `--tracing-config-file=${file}`
}

before(async () => {
  receiver = await startReceiver()
  server = await startTestServer([config(receiver.endpoint), '--authorization-mode=AlwaysAllow'])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const secrets = '/api/v1/namespaces/default/secrets'
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })
let traces = 0

/** Returns the IDs of a new trace, and the header with which a request continues it. */
function newTrace(): {
  readonly traceparent: string
  readonly parentId: string
  readonly id: string
} {
  const id = (++traces).toString(16).padStart(32, 'a')
  return { id, parentId: 'b'.repeat(16), traceparent: `00-${id}-${'b'.repeat(16)}-01` }
}

async function spansOf(id: string): Promise<readonly ReceivedSpan[]> {
  const own = (): readonly ReceivedSpan[] => receiver.spans.filter(({ traceId }) => traceId === id)
  await until(() => own().some(({ kind }) => kind === 2), `spans of trace ${id}`)
  return own()
}

test('the trace of a create contains the calls to etcd, and all its spans are below the span of the client', async () => {
  const { id, parentId, traceparent } = newTrace()
  const { status } = await client.call({
    method: 'POST',
    path: `${secrets}?fieldManager=hidden`,
    body: secret('a'),
    headers: { traceparent },
  })
  assert.equal(status, 201)
  const spans = await spansOf(id)
  const named = (name: string): ReceivedSpan =>
    spans.find((span) => span.name === name) ??
    assert.fail(`${name} is not in ${spans.map((span) => span.name).join()}`)
  const root = named('POST /api/v1/namespaces/{:namespace}/secrets')
  assert.equal(root.parentSpanId, parentId)
  assert.equal(root.kind, 2)
  assert.equal(root.attributes['http.status_code'], 201)
  assert.equal(root.attributes['http.target'], secrets)
  assert.equal(root.resource['service.name'], 'apiserver')
  assert.equal(named('authentication').parentSpanId, root.spanId)
  const create = named('Create')
  assert.equal(create.parentSpanId, root.spanId)
  assert.equal(create.attributes['resource'], 'secrets')
  const stored = named('Create etcd3')
  assert.equal(stored.parentSpanId, create.spanId)
  assert.equal(stored.attributes['key'], '/secrets/default/a')
  const call = named('etcdserverpb.KV/Txn')
  assert.equal(call.parentSpanId, stored.spanId)
  assert.equal(call.kind, 3)
  assert.ok(
    root.startNs <= create.startNs && create.endNs <= root.endNs && call.startNs >= stored.startNs,
  )
})

test('requests of unprivileged clients and requests without a trace are not traced', async () => {
  const earlier = receiver.spans.length
  const { id, traceparent } = newTrace()
  await client.call({ path: secrets, headers: { traceparent }, token: 'bob-token' })
  await client.call({ path: secrets })
  const { id: last, traceparent: lastParent } = newTrace()
  await client.call({ path: `${secrets}/none`, headers: { traceparent: lastParent } })
  await spansOf(last)
  assert.equal(receiver.spans.filter(({ traceId }) => traceId === id).length, 0)
  assert.ok(receiver.spans.slice(earlier).every(({ traceId }) => traceId === last))
})

test('webhook calls are part of the trace, and propagate its context', async () => {
  const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())
  const got: (string | undefined)[] = []
  const hook = createServer({ cert, key }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      got.push(request.headers['traceparent']?.toString())
      const { request: review } = JSON.parse(Buffer.concat(pieces).toString())
      const answer = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: review.uid, allowed: true },
      }
      response.end(JSON.stringify(answer))
    })
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const address = hook.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const webhook = {
    name: 'traced.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(cert).toString('base64'),
    },
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] },
    ],
  }
  try {
    const body = { metadata: { name: 'traced' }, webhooks: [webhook] }
    assert.equal((await client.call({ method: 'POST', path, body })).status, 201)
    const { id, traceparent } = newTrace()
    await client.call({
      method: 'POST',
      path: secrets,
      body: secret('b'),
      headers: { traceparent, tracestate: 'a=1' },
    })
    const spans = await spansOf(id)
    const asked = spans.find(({ name }) => name === 'Call validating webhook') ?? assert.fail()
    assert.equal(asked.attributes['webhook'], 'traced.example.com')
    const call = spans.find(({ parentSpanId }) => parentSpanId === asked.spanId) ?? assert.fail()
    assert.equal(call.name, 'HTTP POST')
    assert.deepEqual(got, [`00-${id}-${call.spanId}-01`])
  } finally {
    await client.call({ method: 'DELETE', path: `${path}/traced` })
    hook.closeAllConnections()
    hook.close()
  }
})

test('a fraction of all requests is sampled, and their spans link to the trace of an unprivileged client', async () => {
  await using other = await startTestServer([
    config(receiver.endpoint, 1_000_000),
    '--authorization-mode=AlwaysAllow',
  ])
  await using own = clients['HTTP/2']?.(other.url) ?? assert.fail()
  const { id, traceparent } = newTrace()
  const path = '/api/v1/namespaces/linked/secrets'
  await own.call({ path, headers: { traceparent }, token: 'bob-token' })
  const target = (span: ReceivedSpan): boolean =>
    span.attributes['http.target'] === path && span.kind === 2
  await until(() => receiver.spans.some(target), 'a span of its own trace')
  const root = receiver.spans.find(target)
  assert.equal(root?.links, 1)
  assert.notEqual(root?.traceId, id)
})

test('without a collector, requests do not wait, and lost spans are counted', async () => {
  await using alone = await startTestServer([
    config('127.0.0.1:1', 999_999),
    '--authorization-mode=AlwaysAllow',
  ])
  await using own = clients['HTTP/2']?.(alone.url) ?? assert.fail()
  assert.equal((await own.call({ path: secrets })).status, 200)
  const failed = async (): Promise<boolean> => {
    const { text } = await own.call({ path: '/metrics' })
    return Number(/^keelson_spans_failed_total (\d+)$/m.exec(text)?.[1]) > 0
  }
  await until(failed, 'spans that could not be sent')
})

/** Returns the modules in src/request/tracing that a server has loaded when it is ready. */
async function loadedBy(args: readonly string[]): Promise<string> {
  const [port = 0] = await freePorts(1)
  const load = `(url, context, next) => (url.includes('/src/request/tracing/') && console.log(url), next(url, context))`
  const hook = `import { registerHooks } from 'node:module'; registerHooks({ load: ${load} })`
  const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
  const own = [
    '--store=memory',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
  ]
  const hooked = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
  const child = spawn(process.execPath, [...hooked, program, 'serve', ...own, ...args])
  let [out, log] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  try {
    await until(() => log.includes('"serving"'), 'a server')
  } finally {
    child.kill()
    await once(child, 'close')
  }
  return out
}

test('no tracing module is loaded if tracing is disabled', async () => {
  assert.equal(await loadedBy([]), '')
  assert.match(await loadedBy([config('127.0.0.1:1')]), /tracing\.ts/)
})

test('long values in a request are truncated in the spans of the request', async () => {
  const { id, traceparent } = newTrace()
  const long = 'x'.repeat(5_000)
  await client.call({
    path: `/api/v1/${long}?labelSelector=${long}`,
    headers: { traceparent, accept: long },
  })
  for (const { name, attributes } of await spansOf(id)) {
    assert.ok(name.length <= 1024)
    for (const value of Object.values(attributes)) assert.ok(`${value}`.length <= 1024)
  }
})
