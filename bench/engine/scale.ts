/**
 * Measures how far one process scales: one large resource, many resources, or many watchers. The
 * figures appear in docs/scale.md and have no targets.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Watcher } from '../../src/storage/cache/watch.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { encode, PlainCache, root } from '../../test/support/harness/plain-cache.ts'
import type { Figure } from '../report/figure.ts'
import { writeMany } from './writer.ts'

const OBJECTS = 300_000
const RESOURCES = 10_000
const WATCHERS = 10_000

export async function benchScale(): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.cache.start()
  await writeMany({
    endpoint: etcd.clientUrl,
    resources: 1,
    keysPerResource: OBJECTS,
    count: OBJECTS,
  })
  return [...(await large(plain)), ...(await manyWatchers(plain)), ...(await manyResources(plain))]
}

async function large(plain: PlainCache): Promise<Figure[]> {
  const before = process.memoryUsage.rss()
  const began = performance.now()
  const { items } = await plain.reader('bench0').list(plain.range('bench0'), 'latest')
  const fillSeconds = (performance.now() - began) / 1000
  const rss = process.memoryUsage.rss() - before
  return [
    {
      name: `first list of ${items.length} objects of 1 KB from etcd`,
      value: fillSeconds,
      unit: 's',
    },
    { name: 'memory per object of 1 KB', value: rss / items.length, unit: 'bytes' },
  ]
}

async function manyWatchers(plain: PlainCache): Promise<Figure[]> {
  const reader = plain.reader('watched')
  const range = plain.range('watched')
  const { revision } = await reader.list(range, 'latest')
  const before = process.memoryUsage.rss()
  const watchers: Watcher[] = []
  for (let i = 0; i < WATCHERS; i++)
    watchers.push(await reader.watch({ range, start: { after: revision } }))
  let seen = 0
  for (const watcher of watchers) {
    const pull = (): void => {
      seen += watcher.take().length
      if (watcher.state !== 'closed') watcher.onReady(pull)
    }
    pull()
  }
  const rss = process.memoryUsage.rss() - before
  const began = performance.now()
  await plain.store.create(`${root}watched/a`, encode('a', 'x'.repeat(1000)))
  while (seen < WATCHERS) await sleep(1)
  const took = performance.now() - began
  for (const watcher of watchers) watcher.close()
  return [
    { name: `memory per watcher, of ${WATCHERS}`, value: rss / WATCHERS, unit: 'bytes' },
    { name: `time until ${WATCHERS} watchers have seen one write`, value: took, unit: 'ms' },
  ]
}

async function manyResources(plain: PlainCache): Promise<Figure[]> {
  const before = process.memoryUsage.rss()
  const began = performance.now()
  for (let i = 0; i < RESOURCES; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, j) => {
        const name = `group${i + j}.example.com/things`
        return plain.reader(name).list(plain.range(name), 'any')
      }),
    )
  }
  const took = (performance.now() - began) / 1000
  const rss = process.memoryUsage.rss() - before
  const written = performance.now()
  const name = `group${RESOURCES - 1}.example.com/things`
  const revision = await plain.store.create(`${root}${name}/a`, encode('a', 'x'))
  await plain.reader(name).get(`${root}${name}/a`, { atLeast: revision })
  return [
    { name: `first list of each of ${RESOURCES} empty resources`, value: took, unit: 's' },
    { name: 'memory per live, empty resource', value: rss / RESOURCES, unit: 'bytes' },
    {
      name: 'time until a write shows in the last of them',
      value: performance.now() - written,
      unit: 'ms',
    },
  ]
}
