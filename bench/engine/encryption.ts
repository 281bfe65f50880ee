/**
 * What encryption at rest costs: CPU for each value, a feed of encrypted events that another server writes, and a list of all Secrets when
 * a server starts.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silent } from '../../src/lib/log.ts'
import { Metrics } from '../../src/lib/metrics.ts'
import { systemTime } from '../../src/lib/timers.ts'
import { ConfiguredProviders, type ProviderConfig } from '../../src/storage/encryption/configured-providers.ts'
import { Encryption } from '../../src/storage/encryption/encryption.ts'
import { KmsMetrics } from '../../src/storage/encryption/kms/metrics.ts'
import { TransformationMetrics } from '../../src/storage/encryption/metrics.ts'
import type { Transformer } from '../../src/storage/transform.ts'
import { startEtcd } from '../../test/harness/etcd.ts'
import { KmsPluginServer } from '../../test/harness/kms-plugin.ts'
import { encode, PlainCache, root } from '../../test/harness/plain-cache.ts'
import type { Figure } from '../figure.ts'

const VALUE_BYTES = 1_000
const VALUES = 20_000
const SECRETS = 100_000
const EVENTS = 60_000
const WRITES_AT_ONCE = 64

export async function benchEncryption(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-encryption-'))
  try {
    await using plugin = new KmsPluginServer(join(folder, 'kms.sock'))
    await plugin.start()
    const keys = [{ name: 'bench', secret: createSecretKey(randomBytes(32)) }]
    const kms = { kind: 'kms', version: 'v2', name: 'bench', path: plugin.path, timeoutMs: 10_000, keysMax: 0 } as const
    const figures: Figure[] = []
    for (const config of [
      { kind: 'aesgcm', keys },
      { kind: 'aescbc', keys },
      { kind: 'secretbox', keys },
      kms,
    ] satisfies ProviderConfig[]) {
      using made = await transformerOf(config)
      figures.push(...(await costOf(config.kind === 'kms' ? 'KMS v2' : config.kind, made.transformer)))
    }
    return [...figures, ...(await onEtcd(kms))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

type Made = Disposable & { readonly transformer: Transformer }

/** As a server has it, metrics included. */
async function transformerOf(config: ProviderConfig): Promise<Made> {
  const metrics = new Metrics()
  const kmsMetrics = new KmsMetrics(metrics, 'bench', systemTime)
  const rules = [{ resources: ['secrets'], providers: [config] }]
  const providers = await ConfiguredProviders.create(rules, { time: systemTime, log: silent, metrics: kmsMetrics })
  await providers.start()
  const transformer = new Encryption(providers.byResource, {
    root,
    resourceOf: (folder) => (folder === 'secrets' ? { group: '', resource: 'secrets' } : undefined),
    metrics: new TransformationMetrics(metrics, systemTime),
  })
  return { transformer, [Symbol.dispose]: () => providers[Symbol.dispose]() }
}

const keyOf = (at: number): string => `${root}secrets/default/s-${at}`

async function costOf(name: string, transformer: Transformer): Promise<Figure[]> {
  const plain = randomBytes(VALUE_BYTES)
  const stored: Buffer[] = []
  const writes = async (): Promise<void> => {
    for (let at = 0; at < VALUES; at++) stored[at] = await transformer.toStorage(keyOf(at), plain)
  }
  const reads = async (): Promise<void> => {
    for (const [at, value] of stored.entries()) await transformer.fromStorage(keyOf(at), value)
  }
  await writes()
  const target = name === 'aesgcm' || name === 'KMS v2' ? { target: { below: 15 } } : {}
  return [
    { name: `encryption: ${name}, a value of 1 KB written`, value: await cpuOf(writes), unit: 'µs', ...target },
    { name: `encryption: ${name}, a value of 1 KB read`, value: await cpuOf(reads), unit: 'µs' },
  ]
}

/** µs of CPU for each value. */
async function cpuOf(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / VALUES
}

async function onEtcd(config: ProviderConfig): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  using written = await transformerOf(config)
  // A seed of its own, as another server has.
  using read = await transformerOf(config)
  await using writer = new PlainCache([etcd.clientUrl], { transformer: written.transformer })
  const value = 'x'.repeat(VALUE_BYTES)
  await inParallel(SECRETS, (at) => writer.store.create(keyOf(at), encode(`s-${at}`, value)))
  await using reader = new PlainCache([etcd.clientUrl], { transformer: read.transformer })
  await reader.cache.start()
  const secrets = reader.reader('secrets')
  const startMs = performance.now()
  const { items } = await secrets.list(reader.range('secrets'), 'latest')
  const listSeconds = (performance.now() - startMs) / 1000
  const events = await feedOf(writer, secrets)
  return [
    {
      name: `encryption: ${items.length} Secrets listed at start`,
      value: listSeconds,
      unit: 's',
      target: { below: 10 },
    },
    ...events,
  ]
}

/** Encrypted before they are written, so that the CPU of this process is that of the reading side, but for the calls to etcd. */
async function feedOf(writer: PlainCache, secrets: ReturnType<PlainCache['reader']>): Promise<Figure[]> {
  let revision = 0
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const value = 'y'.repeat(VALUE_BYTES)
  await inParallel(EVENTS, async (at) => {
    const name = `e-${at}`
    revision = Math.max(revision, await writer.store.create(`${root}secrets/default/${name}`, encode(name, value)))
  })
  const writtenMs = performance.now()
  await secrets.get(`${root}secrets/none`, { atLeast: revision })
  const behindMs = performance.now() - writtenMs
  const { user, system } = process.cpuUsage(cpu)
  const rate = EVENTS / ((writtenMs - startMs) / 1000)
  return [
    {
      name: 'encryption: feed behind after writes at full speed',
      value: behindMs / 1000,
      unit: 's',
      target: { below: 1 },
      note: `${Math.round(rate)} events/s, written by this process, too: ${((user + system) / EVENTS).toFixed(0)} µs CPU for both`,
    },
  ]
}

async function inParallel(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, worker))
}
