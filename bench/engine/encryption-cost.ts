/**
 * Measures the CPU cost of one encryption provider. Each provider runs in a separate process. V8
 * optimizes the code that providers share for all providers that have run in the process, but a
 * server uses only one or two.
 */
import { fork } from 'node:child_process'
import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { systemTime } from '../../src/lib/time/timers.ts'
import { OpenedEvents } from '../../src/storage/opened-events.ts'
import { identity, type Transformer } from '../../src/storage/transform.ts'
import { root } from '../../test/support/harness/plain-cache.ts'
import { kmsConfig, transformerOf } from './transformers.ts'

export const VALUE_BYTES = 1_000
const VALUES = 20_000
/**
 * Number of rounds. The fastest round counts, because other load on the machine only adds time. The
 * first rounds include compilation.
 */
const ROUNDS = 12

const costly = ['none', 'cipher', 'aesgcm', 'aescbc', 'secretbox', 'kms'] as const
export type Costly = (typeof costly)[number]

/**
 * CPU time per value in µs, summed over all threads. 'cipher' is AES-GCM in node:crypto alone,
 * without Keelson's code.
 */
export type Cost = { readonly create: number; readonly read: number }

export async function costOf(provider: Costly, plugin: string): Promise<Cost> {
  const child = fork(import.meta.filename, [provider, plugin])
  const [cost]: Cost[] = await once(child, 'message')
  if (cost === undefined) throw new Error(`the process for ${provider} sent no result`)
  return cost
}

export const keyOf = (at: number): string => `${root}secrets/default/s-${at}`

async function main(provider: Costly, plugin: string): Promise<Cost> {
  if (provider === 'cipher') return { create: await bestOf(cipherAlone()), read: 0 }
  if (provider === 'none') return { create: await bestOf(() => creates(identity)), read: 0 }
  const keys = [{ name: 'bench', secret: createSecretKey(randomBytes(32)) }]
  using made = await transformerOf(
    provider === 'kms' ? kmsConfig(plugin) : { kind: provider, keys },
  )
  const { transformer } = made
  return {
    create: await bestOf(() => creates(transformer)),
    read: await bestOf(await readsOf(transformer)),
  }
}

/** Encrypts each value with node:crypto alone, which is the lower bound for every provider. */
function cipherAlone(): () => Promise<void> {
  const secret = createSecretKey(randomBytes(32))
  const [nonce, plain, key] = [randomBytes(12), randomBytes(VALUE_BYTES), Buffer.from(keyOf(0))]
  return async () => {
    for (let at = 0; at < VALUES; at++) {
      const cipher = createCipheriv('aes-256-gcm', secret, nonce)
      cipher.setAAD(key)
      cipher.update(plain)
      cipher.final()
      cipher.getAuthTag()
    }
  }
}

/**
 * Simulates the encryption work of a create: encrypts the value, and decrypts it when etcd reports
 * the event.
 */
async function creates(transformer: Transformer): Promise<void> {
  const plain = randomBytes(VALUE_BYTES)
  let seen = 0
  const events = new OpenedEvents({
    transformer,
    time: systemTime,
    onEvents: (opened) => {
      seen += opened.length
    },
    onGap: () => undefined,
  })
  for (let at = 1; at <= VALUES; at++) {
    const key = keyOf(at)
    const sealed = transformer.toStorage(key, plain)
    const value = sealed instanceof Promise ? await sealed : sealed
    events.push([{ type: 'put', key, value, revision: at, createRevision: at }])
  }
  if (seen !== VALUES) throw new Error(`${seen} of ${VALUES} events were seen`)
}

async function readsOf(transformer: Transformer): Promise<() => Promise<void>> {
  const plain = randomBytes(VALUE_BYTES)
  const stored: Buffer[] = []
  for (let at = 0; at < VALUES; at++) stored[at] = await transformer.toStorage(keyOf(at), plain)
  return async () => {
    for (const [at, value] of stored.entries()) {
      const opened = transformer.fromStorage(keyOf(at), value)
      if (opened instanceof Promise) await opened
    }
  }
}

async function bestOf(run: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / VALUES)
  }
  return best
}

if (process.argv[1] === import.meta.filename) {
  const [, , name, plugin = ''] = process.argv
  const provider = costly.find((one) => one === name)
  if (provider === undefined) throw new Error(`there is no provider ${name}`)
  process.send?.(await main(provider, plugin))
  process.disconnect()
}
