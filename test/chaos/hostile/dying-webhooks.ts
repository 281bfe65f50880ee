/**
 * Writes objects while webhooks die: `node test/chaos/hostile/dying-webhooks.ts`. Mutating and
 * validating webhooks with failurePolicy Fail and Ignore, over HTTP/1.1 and HTTP/2, are killed,
 * stopped and restarted, and misbehave at random. Their configurations also change. Every stored
 * object must have been processed by every matching webhook with failurePolicy Fail. No write may
 * take longer than the timeouts of its webhooks, and memory must not grow.
 *
 *   --minutes N   duration (10).
 *   --short       20 seconds, for CI.
 *   --seed S      repeats the random choices of an earlier run.
 *
 * The last line is `passed` or `N faults`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fieldsOf, itemsOf } from '../../../src/api/object.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { Authority } from '../../support/harness/issued-certificate.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { type Client, clients } from '../../integration/support.ts'
import { Random } from '../simulation/random.ts'
import { type Inspector, inspect } from './inspect.ts'
import { CONFIG_MAPS, type MarkedWebhook, Verdict, writeOnce } from './marked-writes.ts'
import { MarkingWebhook, modes } from './marking-webhook.ts'

const MINUTES = 10
const SHORT_SECONDS = 20
/**
 * Number of webhook processes. Each has a mutating and a validating webhook. The webhooks of
 * processes with an even number have failurePolicy Fail. For each policy, one process uses HTTP/1.1
 * and one uses HTTP/2.
 */
const PROCESSES = 4
const TIMEOUTS_S = [1, 1, 2, 2] as const
const CONNECTIONS = 4
const LANES = 40
/**
 * Time that a write may take in addition to the timeouts of its webhooks. The shortest of these
 * timeouts plus this margin is less than the default timeout of 10 s. The test therefore fails if
 * the server uses the default timeout instead.
 */
const MARGIN_MS = 8_000
/**
 * Margin in CI, where a machine can stall for seconds. In CI,
 * test/integration/webhook-faults.test.ts checks the timeouts.
 */
const SHORT_MARGIN_MS = 20_000
/** Maximum growth of live memory after the first fifth of the run. */
const GROWTH_BYTES_MAX = 16 << 20
const SETTLED_MS_MAX = 30_000
/** Maximum CPU time of a tick of the server's event loop. */
const TURN_MS_MAX = 600
/** Ranges, in ms, of two random times: how long a webhook works, and how long it then fails. */
const RIGHT_MS = [200, 3_000] as const
const WRONG_MS = [100, 3_000] as const

const admission = '/apis/admissionregistration.k8s.io/v1'
const rules = [
  {
    operations: ['CREATE', 'UPDATE'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
  },
]

async function run(runMs: number, seed: number, marginMs: number): Promise<readonly string[]> {
  await using parts = new AsyncDisposableStack()
  const random = new Random(seed)
  const authority = new Authority('webhooks')
  const processes = await startWebhooks(authority, parts)
  const etcd = parts.use(await startEtcd())
  process.env['NODE_OPTIONS'] = '--inspect=127.0.0.1:0'
  const server = parts.use(await startKeelson({ etcdUrl: etcd.clientUrl }))
  const inspector = parts.use(await inspect(server.log))
  const connections = Array.from({ length: CONNECTIONS }, () => parts.use(connect(server.url)))
  const [first = connect(server.url)] = connections
  await register(first, processes, authority)
  const webhooks = processes.flatMap(webhooksOf)
  const verdict = new Verdict(webhooks)

  const end = new AbortController()
  const torment = processes.map((one, at) =>
    tormented(one, random.fork(`webhook ${at}`), end.signal),
  )
  torment.push(reconfigured(first, random.fork('configurations'), end.signal))
  const lanes = Array.from({ length: LANES }, async (_, at) => {
    const client = connections[at % CONNECTIONS] ?? first
    const lane = {
      client,
      random: random.fork(`lane ${at}`),
      name: `l${at}`,
      webhooks,
      verdict,
      marginMs,
    }
    for (let turn = 0; !end.signal.aborted; turn++) await writeOnce(lane, turn)
  })
  // Warm up code, connection pools and caches first; then measure.
  await sleep(runMs / 5)
  const before = await inspector.liveBytes()
  await inspector.longestTurnMs()
  await sleep((runMs * 4) / 5)
  const turnMs = await inspector.longestTurnMs()
  end.abort()
  await Promise.all([...lanes, ...torment])
  for (const item of itemsOf(
    fieldsOf(JSON.parse((await first.call({ path: CONFIG_MAPS })).text))['items'],
  )) {
    if (fieldsOf(item['data'])['write'] !== undefined) verdict.see(item)
  }
  verdict.end()
  await judge(verdict, { inspector, before, turnMs, log: server.log })
  return verdict.faults
}

function connect(url: string): Client {
  const made = clients['HTTP/2']?.(url)
  if (made === undefined) throw new Error('there is no HTTP/2 client')
  return made
}

async function startWebhooks(
  authority: Authority,
  parts: AsyncDisposableStack,
): Promise<MarkingWebhook[]> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-dying-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const ports = await freePorts(PROCESSES)
  const certificate = authority.issue({ usage: ['server'], hosts: ['127.0.0.1'] })
  const made = ports.map((port, at) => {
    const journal = join(dir, `journal-${at}`)
    return parts.use(
      new MarkingWebhook({ at, port, isHttp2: at >= PROCESSES / 2, certificate, journal }),
    )
  })
  await Promise.all(made.map((one) => one.start()))
  return made
}

const webhooksOf = (of: MarkingWebhook): MarkedWebhook[] =>
  ['m', 'v'].map((type) => ({
    name: `${type}${of.options.at}`,
    failsClosed: of.options.at % 2 === 0,
    timeoutMs: (TIMEOUTS_S[of.options.at] ?? 1) * 1000,
    allowed: () => of.allowed(),
  }))

async function register(
  client: Client,
  processes: readonly MarkingWebhook[],
  authority: Authority,
): Promise<void> {
  const caBundle = Buffer.from(authority.certificatePem).toString('base64')
  for (const { options } of processes) {
    for (const [type, sort] of [
      ['mutating', 'm'],
      ['validating', 'v'],
    ] as const) {
      const name = `${sort}${options.at}`
      const webhook = {
        name: `${name}.example.com`,
        clientConfig: { url: `https://127.0.0.1:${options.port}/${name}`, caBundle },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        objectSelector: { matchLabels: { [name]: 'on' } },
        timeoutSeconds: TIMEOUTS_S[options.at],
        failurePolicy: options.at % 2 === 0 ? 'Fail' : 'Ignore',
        rules,
      }
      const path = `${admission}/${type}webhookconfigurations`
      const made = await client.call({
        method: 'POST',
        path,
        body: { metadata: { name }, webhooks: [webhook] },
      })
      if (made.status !== 201) throw new Error(made.text)
    }
  }
  // The server may process configurations with a short delay.
  await sleep(1_000)
}

const isOver = (signal: AbortSignal, ms: number): Promise<boolean> =>
  sleep(ms, false, { signal }).catch(() => true)

/** Injects one webhook fault after the other. The webhook works in between. */
async function tormented(
  webhook: MarkingWebhook,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!(await isOver(signal, random.between(...RIGHT_MS)))) {
    const wrongMs = random.between(...WRONG_MS)
    const what = random.pick(['kill', 'kill', 'stop', 'misbehave', 'misbehave'] as const)
    if (what === 'kill') await webhook.kill()
    else if (what === 'stop') webhook.stop()
    else webhook.misbehave(random.pick(modes))
    await isOver(signal, wrongMs)
    if (what === 'kill') await webhook.start()
    else if (what === 'stop') webhook.resume()
    else webhook.misbehave('right')
  }
}

/** Updates configurations, which makes the server drop its connections to the webhook. */
async function reconfigured(client: Client, random: Random, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  for (let turn = 0; !(await isOver(signal, random.between(...RIGHT_MS))); turn++) {
    const at = random.between(0, PROCESSES - 1)
    const [type, sort] = random.pick([
      ['mutating', 'm'],
      ['validating', 'v'],
    ] as const)
    const path = `${admission}/${type}webhookconfigurations/${sort}${at}`
    await client.call({
      method: 'PATCH',
      path,
      headers,
      body: { metadata: { annotations: { turn: `${turn}` } } },
    })
  }
}

type Measurement = {
  readonly inspector: Inspector
  readonly before: number
  readonly turnMs: number
  readonly log: string
}

/**
 * Returns the growth of live memory. Waits up to half a minute, because the memory of calls that
 * are about to end is not a leak.
 */
async function settledGrowth(inspector: Inspector, before: number): Promise<number> {
  const until = performance.now() + SETTLED_MS_MAX
  for (;;) {
    const grown = (await inspector.liveBytes()) - before
    if (grown <= GROWTH_BYTES_MAX || performance.now() > until) return grown
    await sleep(1_000)
  }
}

async function judge(
  verdict: Verdict,
  { inspector, before, turnMs, log }: Measurement,
): Promise<void> {
  const grown = await settledGrowth(inspector, before)
  const statuses = [...verdict.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(`${verdict.writes} writes (${statuses.join(', ')}), ${verdict.opened} calls ignored`)
  console.log(
    `slowest write ${verdict.slowestMs.toFixed()} ms, longest tick ${turnMs.toFixed()} ms of CPU`,
  )
  console.log(
    `memory grew by ${(grown / (1 << 20)).toFixed(1)} MB of ${(before / (1 << 20)).toFixed(1)} MB`,
  )
  if (grown > GROWTH_BYTES_MAX) verdict.fault(`memory grew by ${grown} bytes`)
  if (turnMs > TURN_MS_MAX) verdict.fault(`a tick of the event loop took ${turnMs} ms`)
  if (/unhandled/i.test(log)) verdict.fault('a promise rejection was not handled')
  for (const line of log.split('\n').filter((one) => /"level":(?:50|60)/.test(one)))
    verdict.fault(line.slice(0, 500))
  for (const status of [201, 200, 500, 400]) {
    if (!verdict.statuses.has(status))
      verdict.fault(`no response had status ${status}, so the run is not conclusive`)
  }
  if (verdict.opened === 0)
    verdict.fault('no webhook was ever ignored, so the run is not conclusive')
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  })
  const runMs = values.short ? SHORT_SECONDS * 1000 : Number(values.minutes ?? MINUTES) * 60_000
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  console.log(
    `${(runMs / 1000).toFixed()} s of writes by ${LANES} clients while ${PROCESSES} webhooks die, seed ${seed}`,
  )
  const faults = await run(runMs, seed, values.short ? SHORT_MARGIN_MS : MARGIN_MS)
  for (const fault of faults) console.log(`FAULT ${fault}`)
  if (faults.length > 0) process.exitCode = 1
  console.log(faults.length === 0 ? 'passed' : `${faults.length} faults`)
}

await main()
