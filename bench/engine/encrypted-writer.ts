/**
 * Simulates another server that writes encrypted values at a fixed rate, in a separate process. It
 * encrypts the values in advance and writes many of them per transaction, so that most of the
 * machine's CPU time is left for the reader. `startEncryptedWriter` starts it.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { toBytes } from '../../src/storage/keys.ts'
import { encode, root } from '../../test/support/harness/plain-cache.ts'
import { kmsConfig, transformerOf } from './transformers.ts'

/** Number of puts per transaction, below etcd's limit of 128 operations. */
const PUTS_PER_TXN = 50
const KEYS = 20_000
/** Maximum number of unacknowledged transactions. At this number, the writer waits. */
const TXNS_AT_ONCE = 8

export type EncryptedWriterOptions = {
  readonly endpoint: string
  readonly plugin: string
  readonly perSecond: number
  readonly seconds: number
  readonly valueBytes: number
}

/**
 * A message that the writer sends: either an acknowledged transaction (`atMs` is the time of the
 * acknowledgment, as a Unix time), or a summary of the whole run.
 */
export type WriterMessage =
  | { readonly revision: number; readonly atMs: number }
  | { readonly events: number; readonly seconds: number }

export const startEncryptedWriter = (options: EncryptedWriterOptions): ChildProcess =>
  fork(import.meta.filename, [JSON.stringify(options)])

type PutMessage = { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }

async function main({
  endpoint,
  plugin,
  perSecond,
  seconds,
  valueBytes,
}: EncryptedWriterOptions): Promise<void> {
  using made = await transformerOf(kmsConfig(plugin))
  const puts: PutMessage[] = []
  for (let at = 0; at < KEYS; at++) {
    const key = `${root}secrets/default/e-${at}`
    const value = await made.transformer.toStorage(key, encode(`e-${at}`, 'y'.repeat(valueBytes)))
    puts.push({ type: 'put', key: toBytes(key), value })
  }
  await using client = new EtcdClient({ endpoints: [endpoint] })
  const txns = (perSecond * seconds) / PUTS_PER_TXN
  const beganMs = performance.now()
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < txns) {
      const at = next++
      const waitMs = beganMs + (at / txns) * seconds * 1000 - performance.now()
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs))
      const from = (at * PUTS_PER_TXN) % KEYS
      const { revision } = await client.kv.txn({
        compare: [],
        success: puts.slice(from, from + PUTS_PER_TXN),
        failure: [],
      })
      process.send?.({
        revision,
        atMs: performance.timeOrigin + performance.now(),
      } satisfies WriterMessage)
    }
  }
  await Promise.all(Array.from({ length: TXNS_AT_ONCE }, lane))
  const told: WriterMessage = {
    events: txns * PUTS_PER_TXN,
    seconds: (performance.now() - beganMs) / 1000,
  }
  await new Promise((resolve) => process.send?.(told, resolve))
  process.disconnect()
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '{}'))
