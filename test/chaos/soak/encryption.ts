/**
 * Soak test of KMS v2. Writes objects while the KMS plugin is killed, restarted and given new keys:
 * `node test/chaos/soak/encryption.ts`. Needs `test/support/tools/install etcd kms-plugin
 * kube-apiserver`.
 *
 *   --seconds N     duration (300)
 *   --rate N        writes per second (1,000)
 *   --no-reference  does not read the result with kube-apiserver
 *
 * Every write and read must succeed, and etcd's files must not contain anything in plain text. A
 * new server, and then kube-apiserver, must be able to read all objects. Every object contains the
 * number of its writes, so that stale reads are detected.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { type ApiServerOptions, type ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd, type EtcdProcess } from '../../support/harness/etcd.ts'
import { GoKmsPlugin } from '../../support/harness/go-kms-plugin.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { startReference } from '../../support/harness/reference.ts'
import { Random } from '../simulation/random.ts'
import { SteadyClient } from './steady-client.ts'

const SECONDS = 300
const RATE = 1_000
const LANES = 40
/**
 * Number of objects of each writer. They are overwritten, so that etcd does not grow without limit.
 */
const NAMES_PER_LANE = 100
/**
 * Text that must not occur in etcd's files, either in plain text or in base64. Its length is a
 * multiple of three, so that its base64 has no padding.
 */
const MARK = 'nobody-is-to-see-this!!!'
const marks = [MARK, Buffer.from(MARK).toString('base64')]
/**
 * Maximum downtime of the plugin. It is shorter than the three minutes for which a server can
 * continue without the plugin.
 */
const AWAY_MS_MAX = 15_000
const BETWEEN_MS_MAX = 10_000
const PREFIX = 'k8s:enc:kms:v2:plugin:'
const path = '/api/v1/namespaces/default/secrets'

type Counts = { writes: number; reads: number; kills: number; keys: number }

/** Writes objects that no other writer uses, one after the other, and reads each of them. */
class Lane {
  /** Number of writes to each object, by name. */
  readonly written = new Map<string, number>()
  readonly #client: SteadyClient
  readonly #id: number
  readonly #counts: Counts
  readonly #faults: string[]
  #at = 0

  constructor(client: SteadyClient, id: number, counts: Counts, faults: string[]) {
    this.#client = client
    this.#id = id
    this.#counts = counts
    this.#faults = faults
  }

  async step(): Promise<void> {
    const name = `s-${this.#id}-${this.#at++ % NAMES_PER_LANE}`
    const times = (this.written.get(name) ?? 0) + 1
    const body = { metadata: { name }, stringData: { mark: MARK, times: `${times}` } }
    const isNew = times === 1
    const answer = await this.#client.call(
      isNew ? 'POST' : 'PUT',
      isNew ? path : `${path}/${name}`,
      body,
    )
    this.#counts.writes++
    if (answer.status !== (isNew ? 201 : 200))
      return void this.#faults.push(`write of ${name}: ${answer.text}`)
    this.written.set(name, times)
    if (this.#at % 4 !== 0) return
    const read = await this.#client.call('GET', `${path}/${name}`)
    this.#counts.reads++
    if (read.status !== 200) this.#faults.push(`read of ${name}: ${read.text}`)
    else if (timesOf(JSON.parse(read.text)) !== times)
      this.#faults.push(`${name} does not have the value of the last write`)
  }
}

type Secret = {
  readonly metadata: { readonly name: string }
  readonly data: { readonly times: string }
}

const timesOf = ({ data }: Secret): number => Number(Buffer.from(data.times, 'base64').toString())

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string' },
      rate: { type: 'string' },
      seed: { type: 'string' },
      'no-reference': { type: 'boolean' },
    },
  })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  const seconds = Number(values.seconds ?? SECONDS)
  const rate = Number(values.rate ?? RATE)
  console.log(`${rate} writes a second for ${seconds} s, seed ${seed}`)
  const faults = await run({
    seconds,
    rate,
    random: new Random(seed),
    asksReference: values['no-reference'] !== true,
  })
  for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
  console.log(`${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
}

type Run = {
  readonly seconds: number
  readonly rate: number
  readonly random: Random
  readonly asksReference: boolean
}

async function run({ seconds, rate, random, asksReference }: Run): Promise<string[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using plugin = new GoKmsPlugin(join(etcd.dir, 'kms'))
  await plugin.start()
  const options = {
    etcdUrl: etcd.clientUrl,
    args: [`--encryption-provider-config=${writeConfig(etcd, plugin)}`],
  }
  const faults: string[] = []
  const counts: Counts = { writes: 0, reads: 0, kills: 0, keys: 1 }
  const lanes: Lane[] = []
  {
    await using server = await startKeelson(options)
    using clients = new DisposableStack()
    const ended = new AbortController()
    const disturbing = disturb(plugin, { server, random, counts, signal: ended.signal })
    for (let id = 0; id < LANES; id++) {
      lanes.push(
        new Lane(clients.use(new SteadyClient(server.url, server.token)), id, counts, faults),
      )
    }
    const startMs = performance.now()
    await Promise.all(
      lanes.map((lane) => paced(lane, { startMs, seconds, perSecond: rate / LANES })),
    )
    const took = (performance.now() - startMs) / 1000
    ended.abort()
    await disturbing
    console.log(
      `${counts.writes} writes (${Math.round(counts.writes / took)} a second), ${counts.reads} reads, the plugin killed ${counts.kills} times, ${counts.keys} keys`,
    )
    faults.push(...(await listFaults(server, lanes)))
  }
  faults.push(...(await plainFaults(etcd)))
  faults.push(...(await freshFaults(startKeelson, 'a fresh server', options, lanes)))
  if (asksReference)
    faults.push(...(await freshFaults(startReference, 'the reference', options, lanes)))
  return faults
}

function writeConfig(etcd: EtcdProcess, plugin: GoKmsPlugin): string {
  const kms = { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '3s' }
  const file = join(etcd.dir, 'encryption.json')
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ kms }] }],
    }),
  )
  return file
}

type Pace = { readonly startMs: number; readonly seconds: number; readonly perSecond: number }

async function paced(lane: Lane, { startMs, seconds, perSecond }: Pace): Promise<void> {
  const isOver = (): boolean => performance.now() - startMs >= seconds * 1000
  for (let at = 0; at < seconds * perSecond && !isOver(); at++) {
    const waitMs = startMs + (at / perSecond) * 1000 - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    await lane.step()
  }
}

type Disturbance = {
  readonly server: ApiServerProcess
  readonly random: Random
  readonly counts: Counts
  readonly signal: AbortSignal
}

/**
 * Kills the plugin, gives it a new key, or both. A request to the health endpoint makes the server
 * call the plugin.
 */
async function disturb(
  plugin: GoKmsPlugin,
  { server, random, counts, signal }: Disturbance,
): Promise<void> {
  using client = new SteadyClient(server.url, server.token)
  const rest = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal }).catch(() => undefined)
  while (!signal.aborted) {
    const isKilled = random.next() < 0.7
    if (isKilled) {
      counts.kills++
      await plugin.kill()
      await rest(random.next() * AWAY_MS_MAX)
    }
    if (random.next() < 0.7) plugin.useKey(`key-${++counts.keys}`)
    if (isKilled) await plugin.start()
    await rest(random.next() * BETWEEN_MS_MAX)
    await client.call('GET', '/readyz/kms-providers')
  }
}

/** Compares a list response with the writes. Returns the differences. */
async function listFaults(server: ApiServerProcess, lanes: readonly Lane[]): Promise<string[]> {
  using client = new SteadyClient(server.url, server.token)
  const { status, text } = await client.call('GET', path)
  if (status !== 200) return [`list: ${text.slice(0, 500)}`]
  const items: Secret[] = JSON.parse(text).items
  const listed = new Map(items.map((item) => [item.metadata.name, timesOf(item)]))
  const faults: string[] = []
  for (const { written } of lanes) {
    for (const [name, times] of written) {
      if (listed.get(name) !== times)
        faults.push(`${name}: written ${times} times, read ${listed.get(name)}`)
    }
  }
  console.log(`${listed.size} Secrets listed`)
  return faults
}

/** Returns values that the plugin did not encrypt, and etcd files that contain the secret text. */
async function plainFaults(etcd: EtcdProcess): Promise<string[]> {
  const faults: string[] = []
  await using engine = new EtcdEngine(new EtcdClient({ endpoints: [etcd.clientUrl] }))
  const { values } = await engine.range(rangeOf('/registry/secrets/'))
  const keyIds = new Set<string>()
  for (const { key, value } of values) {
    const text = value.toString('latin1')
    if (!text.startsWith(PREFIX)) faults.push(`${key} is not encrypted`)
    keyIds.add(/key-\d+/.exec(text.slice(-200))?.[0] ?? 'none')
  }
  await etcd.stop('SIGTERM')
  let bytes = 0
  for (const file of readdirSync(join(etcd.dir, 'data'), {
    recursive: true,
    withFileTypes: true,
  })) {
    if (!file.isFile()) continue
    const content = readFileSync(join(file.parentPath, file.name))
    bytes += content.length
    if (!content.includes('/registry/secrets/')) continue
    for (const mark of marks)
      if (content.includes(mark)) faults.push(`${file.name} has a value in plain text`)
  }
  await etcd.start()
  console.log(
    `${values.length} values of ${keyIds.size} keys; ${(bytes / (1 << 20)).toFixed(0)} MB of etcd's files scanned`,
  )
  return faults
}

async function freshFaults(
  start: (options: ApiServerOptions) => Promise<ApiServerProcess>,
  name: string,
  options: ApiServerOptions,
  lanes: readonly Lane[],
): Promise<string[]> {
  await using server = await start(options)
  return (await listFaults(server, lanes)).map((fault) => `${name}: ${fault}`)
}

await main()
