/**
 * Measures the cost of encryption at rest. The figures are the CPU time per value, the delay until
 * encrypted events of another server arrive, and the time to list all Secrets when a server starts.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Reader } from '../../src/storage/cache/reader.ts'
import type { ProviderConfig } from '../../src/storage/encryption/configured-providers.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { KmsPluginServer } from '../../test/support/harness/kms-plugin.ts'
import { encode, PlainCache, root } from '../../test/support/harness/plain-cache.ts'
import type { Figure } from '../report/figure.ts'
import { costOf, keyOf, VALUE_BYTES } from './encryption-cost.ts'
import { startEncryptedWriter, type WriterMessage } from './encrypted-writer.ts'
import { kmsConfig, transformerOf } from './transformers.ts'

const SECRETS = 100_000
const WRITES_AT_ONCE = 64
const FEED_PER_SECOND = 10_000
const FEED_SECONDS = 10

const providers = [
  { name: 'aesgcm', provider: 'aesgcm', target: { below: 15 } },
  { name: 'aescbc', provider: 'aescbc' },
  { name: 'secretbox', provider: 'secretbox' },
  { name: 'KMS v2', provider: 'kms', target: { below: 15 } },
] as const

export async function benchEncryption(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-encryption-'))
  try {
    await using plugin = new KmsPluginServer(join(folder, 'kms.sock'))
    await plugin.start()
    return [...(await costs(plugin.path)), ...(await onEtcd(kmsConfig(plugin.path), plugin.path))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function costs(plugin: string): Promise<Figure[]> {
  const alone = await costOf('cipher', plugin)
  const none = await costOf('none', plugin)
  const floor = {
    name: 'encryption: 1 KB of AES-GCM in node:crypto alone',
    value: alone.create,
    unit: 'µs',
  }
  const figures: Figure[] = [floor]
  for (const { name, provider, ...target } of providers) {
    const { create, read } = await costOf(provider, plugin)
    figures.push(
      {
        name: `encryption: ${name}, added to a create of 1 KB`,
        value: create - none.create,
        unit: 'µs',
        ...target,
      },
      { name: `encryption: ${name}, a value of 1 KB read`, value: read, unit: 'µs' },
    )
  }
  return figures
}

async function onEtcd(config: ProviderConfig, plugin: string): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  const value = 'x'.repeat(VALUE_BYTES)
  {
    using written = await transformerOf(config)
    await using writer = new PlainCache([etcd.clientUrl], { transformer: written.transformer })
    await inParallel(SECRETS, (at) => writer.store.create(keyOf(at), encode(`s-${at}`, value)))
  }
  // The reader simulates a second server, so it gets its own transformer, with its own seed for
  // data encryption keys.
  using read = await transformerOf(config)
  await using reader = new PlainCache([etcd.clientUrl], { transformer: read.transformer })
  await reader.cache.start()
  const secrets = reader.reader('secrets')
  const startMs = performance.now()
  const { items } = await secrets.list(reader.range('secrets'), 'latest')
  const listSeconds = (performance.now() - startMs) / 1000
  return [
    {
      name: `encryption: ${items.length} Secrets listed at start`,
      value: listSeconds,
      unit: 's',
      target: { below: 10 },
    },
    ...(await feedOf(secrets, etcd.clientUrl, plugin)),
  ]
}

/**
 * Measures how far the cache lags behind a server that writes at a fixed rate. The lag is the time
 * from the acknowledgment of a write until the cache has received its event.
 */
async function feedOf(secrets: Reader, endpoint: string, plugin: string): Promise<Figure[]> {
  const options = {
    endpoint,
    plugin,
    perSecond: FEED_PER_SECOND,
    seconds: FEED_SECONDS,
    valueBytes: VALUE_BYTES,
  }
  const child = startEncryptedWriter(options)
  const behindMs: number[] = []
  const seen: Promise<void>[] = []
  let events = 0
  let seconds = 0
  const seeing = async (revision: number, atMs: number): Promise<void> => {
    await secrets.get(`${root}secrets/none`, { atLeast: revision })
    behindMs.push(performance.timeOrigin + performance.now() - atMs)
  }
  let cpu = process.cpuUsage()
  child.on('message', (told: WriterMessage) => {
    if ('revision' in told) {
      if (seen.length === 0) cpu = process.cpuUsage()
      seen.push(seeing(told.revision, told.atMs))
    } else ({ events, seconds } = told)
  })
  await once(child, 'exit')
  await Promise.all(seen)
  const { user, system } = process.cpuUsage(cpu)
  behindMs.sort((a, b) => a - b)
  const at = (share: number): number => behindMs[Math.floor(behindMs.length * share)] ?? Number.NaN
  return [
    {
      name: 'encryption: events per second from another server',
      value: events / seconds,
      unit: '/s',
      target: { atLeast: 0.99 * FEED_PER_SECOND },
      note: `KMS v2, 1 KB, ${FEED_SECONDS} s`,
    },
    {
      name: 'encryption: lag of the cache, 99th percentile',
      value: at(0.99),
      unit: 'ms',
      target: { below: 1_000 },
      note: `median ${at(0.5).toFixed(1)} ms, longest ${at(1 - 1 / behindMs.length).toFixed(0)} ms; ${((user + system) / events).toFixed(1)} µs CPU an event`,
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
