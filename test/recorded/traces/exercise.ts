/**
 * Sends the same traced requests to kube-apiserver and to Keelson, and returns their spans without
 * values that differ from run to run.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import type { Client } from '../compat/client.ts'
import type { ReceivedSpan, Receiver } from '../../integration/observe/receiver.ts'

/** A span and its children. */
export type SpanShape = {
  readonly name: string
  readonly kind: string
  readonly attributes: { readonly [name: string]: string | number | boolean }
  readonly events: readonly string[]
  readonly below: readonly SpanShape[]
}

/** The spans of each request. The key is the name of the request. */
export type Traced = { readonly [request: string]: readonly SpanShape[] }

/**
 * Writes a tracing configuration and returns the flag for it. Only requests with a trace header are
 * traced. The file is deleted when the returned value is disposed of.
 */
export function tracingFlag(endpoint: string): { readonly flag: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-tracing-'))
  const file = join(folder, 'tracing.yaml')
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: ${endpoint}\nsamplingRatePerMillion: 0\n`,
  )
  return {
    flag: `--tracing-config-file=${file}`,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const json = 'application/json'
const base = '/api/v1/namespaces/default'
const templates = `${base}/podtemplates`
const template = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
})

type ExerciseRequest = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly type?: string
}

const requests: { readonly [name: string]: ExerciseRequest } = {
  create: { method: 'POST', path: `${templates}?fieldManager=m`, body: template('a') },
  get: { method: 'GET', path: `${templates}/a` },
  'get, any version': { method: 'GET', path: `${templates}/a?resourceVersion=0` },
  'get, missing': { method: 'GET', path: `${templates}/none` },
  list: { method: 'GET', path: templates },
  'list, any version': { method: 'GET', path: `${templates}?resourceVersion=0` },
  'list, a page': { method: 'GET', path: '/api/v1/podtemplates?limit=1' },
  update: {
    method: 'PUT',
    path: `${templates}/a`,
    body: { ...template('a'), metadata: { name: 'a', labels: { x: 'y' } } },
  },
  'merge patch': {
    method: 'PATCH',
    path: `${templates}/a`,
    body: { metadata: { labels: { x: 'z' } } },
    type: 'application/merge-patch+json',
  },
  apply: {
    method: 'PATCH',
    path: `${templates}/b?fieldManager=m&force=true`,
    body: template('b'),
    type: 'application/apply-patch+yaml',
  },
  watch: { method: 'GET', path: `${templates}?watch=true&timeoutSeconds=1` },
  delete: { method: 'DELETE', path: `${templates}/a` },
  'delete all': { method: 'DELETE', path: templates },
  version: { method: 'GET', path: '/version' },
  'no such group': { method: 'GET', path: '/apis/none.example.com/v1/things' },
}

/**
 * Sends all requests, each in its own trace, including one that calls webhooks. Resolves when all
 * spans have arrived.
 */
export async function exercise(client: Client, { spans }: Receiver): Promise<Traced> {
  await using hook = await startHook()
  const ids = new Map<string, string>()
  const ask = async (
    name: string,
    { method, path, body, type = json }: ExerciseRequest,
  ): Promise<void> => {
    const id = (ids.size + 1).toString(16).padStart(32, 'a')
    ids.set(name, id)
    await client.request({
      method,
      path,
      headers: {
        traceparent: `00-${id}-${PARENT}-01`,
        'user-agent': 'keelson-test',
        accept: json,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
  for (const [name, asked] of Object.entries(requests)) await ask(name, asked)
  for (const kind of ['Mutating', 'Validating'] as const) {
    await client.request({
      method: 'POST',
      path: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
      headers: { 'content-type': json },
      body: JSON.stringify(hook.configuration(kind)),
    })
  }
  const hooked: ExerciseRequest = { method: 'POST', path: templates, body: template('hooked') }
  for (let tries = 0; hook.kinds.size < 2 && tries < TRIES_MAX; tries++) {
    ids.delete('create, with webhooks')
    await client.request({ method: 'DELETE', path: `${templates}/hooked` })
    await ask('create, with webhooks', hooked)
    if (hook.kinds.size < 2) await sleep(200)
  }
  const hasAll = (): boolean =>
    [...ids.values()].every((id) =>
      spans.some(({ traceId, parentSpanId }) => traceId === id && parentSpanId === PARENT),
    )
  for (let tries = 0; !hasAll() && tries < TRIES_MAX; tries++) await sleep(200)
  return Object.fromEntries(
    [...ids].map(([name, id]) => [
      name,
      below(
        spans.filter(({ traceId }) => traceId === id),
        PARENT,
      ),
    ]),
  )
}

const PARENT = 'b'.repeat(16)
/** Maximum number of attempts. Together they take a minute. */
const TRIES_MAX = 300
const kinds = ['unspecified', 'internal', 'server', 'client']

function below(spans: readonly ReceivedSpan[], parent: string): SpanShape[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted(
      (one, other) => Number(one.startNs - other.startNs) || (one.name < other.name ? -1 : 1),
    )
    .map(({ name, kind, attributes, events, spanId }) => ({
      name,
      kind: kinds[kind] ?? '',
      attributes: Object.fromEntries(
        Object.entries(attributes)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([key, value]) => [key, shown(key, value)]),
      ),
      events: events.map((event) => event.name),
      below: below(spans, spanId),
    }))
}

/**
 * Attributes whose values differ in each run, such as ports, IDs and revisions. The values are not
 * compared.
 */
const varying =
  /^(audit-id|UID|net\.(sock\.)?(peer|host)\.port|message\.(id|uncompressed_size)|http\.(response|request)_content_length|http\.wrote_bytes|net\.host\.name|server\.(address|port)|network\.peer\.port|http\.url)$/

const shown = (key: string, value: string | number | boolean): string | number | boolean =>
  varying.test(key) ? `some ${typeof value}` : value

type Hook = AsyncDisposable & {
  readonly kinds: ReadonlySet<string>
  readonly configuration: (kind: 'Mutating' | 'Validating') => object
}

/** Starts an admission webhook that allows everything. */
async function startHook(): Promise<Hook> {
  const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())
  const asked = new Set<string>()
  const server = createServer({ cert, key }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      asked.add(request.url ?? '')
      const { request: review } = JSON.parse(Buffer.concat(pieces).toString())
      const answer = { uid: review.uid, allowed: true }
      response.setHeader('content-type', json)
      response.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: answer,
        }),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    kinds: asked,
    configuration: (kind) => ({
      metadata: { name: `traced-${kind.toLowerCase()}` },
      webhooks: [
        {
          name: `${kind.toLowerCase()}.example.com`,
          clientConfig: {
            url: `https://127.0.0.1:${port}/${kind}`,
            caBundle: Buffer.from(cert).toString('base64'),
          },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['podtemplates'],
            },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
