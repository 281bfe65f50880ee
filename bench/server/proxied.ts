/**
 * `npm run bench -- --only proxied [--reference]`: measures requests that Keelson forwards to an
 * aggregated API server. With --reference, Keelson alternates with kube-apiserver in front of the
 * same aggregated server, which runs in a separate process.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { Authority } from '../../test/support/harness/issued-certificate.ts'
import { startReference } from '../../test/support/harness/reference.ts'
import { until } from '../../test/support/harness/until.ts'
import { SteadyClient } from '../../test/chaos/soak/steady-client.ts'
import type { Figure } from '../report/figure.ts'
import { median } from '../report/interval.ts'
import { ForkedServer, serveForked, type ServerAddress } from './forked-server.ts'
import { type Figures, h2load, type Load } from './h2load.ts'
import { PackagedKeelson } from './packaged.ts'
import { type Target, targetOf } from './targets.ts'

/** Minimum rate, as a multiple of kube-apiserver's rate. */
const REFERENCE_TIMES = 2

const group = 'bench.example.com'
const discovery = `/apis/${group}/v1`
const things = `${discovery}/namespaces/default/things`
/** Sizes of a typical object, and of a list that is forwarded while it is still being received. */
const SHORT_BYTES = 1024
const LONG_BYTES = 4 << 20
const ROUNDS_PER_RUN = 3

const loads: Readonly<Record<string, Load>> = {
  'gets of 1 KB': { uri: `${things}/short`, amount: { requests: 4_000 }, clients: 4, streams: 25 },
  'lists of 4 MB': { uri: things, amount: { requests: 60 }, clients: 4, streams: 1 },
}

export type ProxiedBench = { readonly runs: number; readonly reference: boolean }

export async function benchProxied({ runs, reference }: ProxiedBench): Promise<Figure[]> {
  await using parts = new AsyncDisposableStack()
  const dir = mkdtempSync(join(tmpdir(), 'keelson-bench-proxied-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const { address } = parts.use(await ForkedServer.start(import.meta.filename))
  const args = proxyFlags(dir)
  const { clientUrl } = parts.use(await startEtcd())
  const built = parts.use(new PackagedKeelson())
  const targets = [
    targetOf('Keelson', parts.use(await built.start({ etcdUrl: clientUrl, args })), clientUrl),
  ]
  if (reference) {
    const { clientUrl: theirs } = parts.use(await startEtcd())
    targets.push(
      targetOf('reference', parts.use(await startReference({ etcdUrl: theirs, args })), theirs),
    )
  }
  for (const target of targets) await register(target, address)
  const figures: Figure[] = []
  for (const [name, load] of Object.entries(loads)) {
    for (const target of targets) await h2load(target, load, dir)
    const measured = targets.map((): Figures[] => [])
    for (let round = 0; round < runs * ROUNDS_PER_RUN; round++) {
      for (const [at, target] of targets.entries()) {
        const one = await h2load(target, load, dir)
        assert.equal(one.failed, 0, `${target.name}: ${name}`)
        measured[at]?.push(one)
      }
    }
    figures.push(...report(name, measured))
  }
  return figures
}

function report(name: string, [ours = [], theirs]: readonly (readonly Figures[])[]): Figure[] {
  const note = `${cpu(ours).toFixed(0)} µs of CPU each`
  if (theirs === undefined)
    return [{ name: `proxied ${name}`, value: rate(ours), unit: '1/s', note }]
  return [
    {
      name: `proxied ${name}: rate against the reference`,
      value: median(
        ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN)),
      ),
      unit: 'times',
      target: { atLeast: REFERENCE_TIMES },
      note: `${rate(ours).toFixed(0)} against ${rate(theirs).toFixed(0)} a second; ${note} against ${cpu(theirs).toFixed(0)}`,
    },
  ]
}

const rate = (all: readonly Figures[]): number => median(all.map(({ perSecond }) => perSecond))
const cpu = (all: readonly Figures[]): number => median(all.map(({ cpuMicros }) => cpuMicros))

function proxyFlags(dir: string): string[] {
  const { certificatePem, keyPem } = new Authority('front').issue({ cn: 'front' })
  const [certificate, key] = [join(dir, 'front.pem'), join(dir, 'front-key.pem')]
  writeFileSync(certificate, certificatePem)
  writeFileSync(key, keyPem, { mode: 0o600 })
  return [`--proxy-client-cert-file=${certificate}`, `--proxy-client-key-file=${key}`]
}

async function register(
  { server, token = '' }: Target,
  { port, caBundle }: ServerAddress,
): Promise<void> {
  using client = new SteadyClient(server, token)
  const create = async (path: string, body: object): Promise<void> => {
    const { status, text } = await client.call('POST', path, body)
    assert.equal(status, 201, text)
  }
  await create('/api/v1/namespaces/default/services', {
    metadata: { name: 'remote' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      caBundle,
      service: { namespace: 'default', name: 'remote', port },
    },
  })
  await until(
    async () => (await client.call('GET', `${things}/short`)).status === 200,
    `${server} passes requests on`,
  )
}

if (process.argv.includes('--serve') && import.meta.main) {
  const verbs = ['get', 'list']
  const resources = [
    { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs },
  ]
  const bodies = new Map([
    [
      discovery,
      Buffer.from(
        JSON.stringify({ kind: 'APIResourceList', groupVersion: `${group}/v1`, resources }),
      ),
    ],
    [
      `${things}/short`,
      Buffer.from(JSON.stringify({ kind: 'Thing', text: 'x'.repeat(SHORT_BYTES) })),
    ],
    [things, Buffer.from(JSON.stringify({ kind: 'ThingList', text: 'x'.repeat(LONG_BYTES) }))],
  ])
  await serveForked(['remote.default.svc'], (request, reply) => {
    const body = bodies.get(request.url.split('?', 1)[0] ?? '')
    reply.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    reply.end(body ?? '')
  })
}
