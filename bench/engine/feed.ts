/**
 * Measures whether the cache keeps up with etcd's events while other clients write at full speed.
 * Also measures how quickly the cache catches up after a network outage.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reader } from '../../src/storage/cache/reader.ts'
import { StorageError } from '../../src/storage/errors.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { PlainCache } from '../../test/support/harness/plain-cache.ts'
import { startProxy } from '../../test/support/harness/proxy.ts'
import type { Figure } from '../report/figure.ts'
import { startWriter, writeMany } from './writer.ts'

const RESOURCES = 32
const BEHIND_EVENTS = 50_000
/** Number of writes per second that continue while the cache catches up after the outage. */
const PACE = 2_000

export async function benchFeed({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using proxy = await startProxy(etcd.clientUrl)
  await using plain = new PlainCache([proxy.url])
  await plain.cache.start()
  await writeMany({ endpoint: etcd.clientUrl, resources: RESOURCES, count: 20_000 })
  const readers = Array.from({ length: RESOURCES }, (_, i) => plain.reader(`bench${i}`))
  for (const [i, reader] of readers.entries()) await reader.list(plain.range(`bench${i}`), 'latest')

  const reached = async (revision: number): Promise<void> => {
    await Promise.all(readers.map((reader) => reach(reader, revision)))
  }
  const cpuBefore = process.cpuUsage()
  const writer = startWriter({ endpoint: etcd.clientUrl, resources: RESOURCES })
  await sleep(seconds * 1000)
  const live = await writer.stop()
  const liveEnd = performance.now()
  await reached(live.revision)
  const behindSeconds = (performance.now() - liveEnd) / 1000
  const cpu = process.cpuUsage(cpuBefore)

  proxy.refuse()
  proxy.cut()
  await writeMany({ endpoint: etcd.clientUrl, resources: RESOURCES, count: BEHIND_EVENTS })
  const pacer = startWriter({ endpoint: etcd.clientUrl, resources: RESOURCES, pace: PACE })
  await sleep(500)
  proxy.heal()
  const healed = performance.now()
  const target = await plain.engine.latest()
  await reached(target)
  const catchUpSeconds = (performance.now() - healed) / 1000
  await pacer.stop()
  return [
    {
      name: 'feed: lag after writes at full speed',
      value: behindSeconds,
      unit: 's',
      target: { below: 1 },
      note: `${Math.round(live.writes / live.seconds)} writes/s, ${((cpu.user + cpu.system) / live.writes).toFixed(1)} µs CPU an event`,
    },
    {
      name: `feed: time to catch up ${BEHIND_EVENTS} events under writes`,
      value: catchUpSeconds,
      unit: 's',
      target: { below: 5 },
      note: `${PACE} writes/s at the same time, from the moment when the network is back`,
    },
  ]
}

/**
 * Waits until the cache has received the events up to this revision. Repeats the read, because each
 * read waits for the revision for only 3 s.
 */
async function reach(reader: Reader, revision: number): Promise<void> {
  for (;;) {
    try {
      await reader.get('/registry/none', { atLeast: revision })
      return
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'too-new')) throw error
    }
  }
}
