/**
 * Measures linearizable reads of cached objects, with 256 concurrent readers. Compares their rate
 * with that of the same number of readers that send a range request to etcd for each read. Also
 * checks linearizability: every read must return all writes that were acknowledged before the read
 * began.
 */
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { encode, PlainCache, root } from '../../test/support/harness/plain-cache.ts'
import type { Figure } from '../report/figure.ts'

const CONCURRENCY = 256
const OBJECTS = 100
const WRITERS = 4
const key = (n: number): string => `${root}latest/default/object-${n}`

export async function benchLatest({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.cache.start()
  for (let n = 0; n < OBJECTS; n++)
    await plain.store.create(key(n), encode(`object-${n}`, 'x'.repeat(1000)))
  const reader = plain.reader('latest')
  await reader.list(plain.range('latest'), 'latest')
  const bytes = Buffer.from(key(0))
  const turns = 3
  const etcdRates: number[] = []
  const cacheRates: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    etcdRates.push(await rate(seconds / turns, () => plain.client.kv.range({ key: bytes })))
    cacheRates.push(await rate(seconds / turns, (n) => reader.get(key(n % OBJECTS), 'latest')))
  }
  const checked = await checkLinearizable(plain, seconds)
  const ratio = median(cacheRates) / median(etcdRates)
  return [
    {
      name: 'latest reads from the cache, against etcd ranges',
      value: ratio,
      unit: 'times',
      target: { atLeast: 8 },
      note: `${Math.round(median(cacheRates))}/s against ${Math.round(median(etcdRates))}/s`,
    },
    {
      name: 'latest reads that missed an acknowledged write',
      value: checked.stale,
      unit: '',
      target: { below: 1 },
      note: `of ${checked.reads} reads under ${checked.writes} writes`,
    },
  ]
}

async function rate(seconds: number, operation: (n: number) => Promise<unknown>): Promise<number> {
  const until = performance.now() + seconds * 1000
  const began = performance.now()
  let done = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      await operation(done)
      done++
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  return done / ((performance.now() - began) / 1000)
}

/**
 * Checks the reads against a model that records the revision of the last acknowledged write of each
 * key. A read must not return a revision older than the model's revision at the start of the read.
 */
async function checkLinearizable(
  plain: PlainCache,
  seconds: number,
): Promise<{ reads: number; writes: number; stale: number }> {
  const reader = plain.reader('latest')
  const acknowledged = new Array<number>(OBJECTS).fill(0)
  const until = performance.now() + seconds * 1000
  const tally = { reads: 0, writes: 0, stale: 0 }
  const write = async (lane: number): Promise<void> => {
    for (let i = 0; performance.now() < until; i++) {
      const n = (lane + i * WRITERS) % OBJECTS
      const done = await plain.store.update(key(n), { decode: (s) => s.revision }, () => ({
        put: encode(`object-${n}`, `${lane}-${i}`),
      }))
      acknowledged[n] = Math.max(acknowledged[n] ?? 0, done.revision)
      tally.writes++
    }
  }
  const read = async (lane: number): Promise<void> => {
    for (let i = 0; performance.now() < until; i++) {
      const n = (lane + i) % OBJECTS
      const least = acknowledged[n] ?? 0
      const { item } = await reader.get(key(n), 'latest')
      if ((item?.revision ?? 0) < least) tally.stale++
      tally.reads++
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, lane) => write(lane))
  await Promise.all([...writers, ...Array.from({ length: CONCURRENCY }, (_, lane) => read(lane))])
  return tally
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
