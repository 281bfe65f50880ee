/** Measures the cost of a list and a watch up to the point where their bytes reach the socket. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Watcher } from '../../src/storage/cache/watch.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { PlainCache, root } from '../../test/support/harness/plain-cache.ts'
import type { Figure } from '../report/figure.ts'
import { startWriter, writeMany } from './writer.ts'

const OBJECTS = 10_000
const LISTS = 50
const WATCHERS = 200
const EVENTS_PER_SECOND = 2_000

export async function benchServe({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.cache.start()
  await fill(plain)
  return [await benchList(plain), await benchWatch(plain, etcd.clientUrl, seconds)]
}

async function fill(plain: PlainCache): Promise<void> {
  for (let n = 0; n < OBJECTS; n += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        plain.store.create(
          `${root}list/default/object-${n + i}`,
          Buffer.from(
            `{"kind":"Plain","apiVersion":"v1","metadata":{"name":"o"},"value":"${'x'.repeat(940)}"}`,
          ),
        ),
      ),
    )
  }
}

/**
 * Measures a list from the call until all bytes are ready to be written, in chunks of the size that
 * a socket accepts. Also reports the length of the list in megabytes.
 */
async function benchList(plain: PlainCache): Promise<Figure> {
  const reader = plain.reader('list')
  const range = plain.range('list')
  const once = async (): Promise<number> => {
    const { items } = await reader.list(range, 'any')
    const parts: Buffer[] = []
    let bytes = 0
    for (const item of items) {
      const part = item.listTail()
      bytes += part.length + 2
      parts.push(part)
    }
    return bytes
  }
  for (let i = 0; i < 10; i++) await once()
  const before = process.cpuUsage()
  let bytes = 0
  for (let i = 0; i < LISTS; i++) bytes = await once()
  const cpu = process.cpuUsage(before)
  return {
    name: `list of ${OBJECTS} cached objects as bytes`,
    value: (cpu.user + cpu.system) / LISTS / 1000,
    unit: 'ms CPU',
    target: { below: 2 },
    note: `${(bytes / 1e6).toFixed(1)} MB`,
  }
}

async function benchWatch(plain: PlainCache, endpoint: string, seconds: number): Promise<Figure> {
  await writeMany({ endpoint, resources: 1, count: 2_000 })
  const reader = plain.reader('bench0')
  await reader.list(plain.range('bench0'), 'latest')
  const alone = await load(endpoint, seconds)
  const tally = { deliveries: 0, bytes: 0 }
  const watchers = await Promise.all(
    Array.from({ length: WATCHERS }, () =>
      reader.watch({ range: plain.range('bench0'), start: { initial: 'any' } }),
    ),
  )
  for (const watcher of watchers) drain(watcher, { deliveries: 0, bytes: 0 })
  await sleep(200)
  for (const watcher of watchers) watcher.close()
  const live = await reader.list(plain.range('bench0'), 'latest')
  const followers = await Promise.all(
    Array.from({ length: WATCHERS }, () =>
      reader.watch({ range: plain.range('bench0'), start: { after: live.revision } }),
    ),
  )
  for (const watcher of followers) drain(watcher, tally)
  const watched = await load(endpoint, seconds)
  const first = followers[0]?.closedBecause
  for (const watcher of followers) watcher.close()
  return {
    name: `${WATCHERS} watchers at ${EVENTS_PER_SECOND} events/s, per delivery`,
    value: (watched.cpuUs - alone.cpuUs) / tally.deliveries,
    unit: 'µs CPU',
    target: { below: 1 },
    note: `${Math.round(tally.deliveries / watched.seconds)} deliveries/s of ${Math.round((watched.writes * WATCHERS) / watched.seconds)}${first === undefined ? '' : `, closed: ${first}`}`,
  }
}

/**
 * Returns the CPU time that this process uses while another process writes to the watched resource.
 */
async function load(
  endpoint: string,
  seconds: number,
): Promise<{ cpuUs: number; writes: number; seconds: number }> {
  const writer = startWriter({ endpoint, resources: 1, pace: EVENTS_PER_SECOND })
  await sleep(500)
  const before = process.cpuUsage()
  const began = performance.now()
  await sleep(seconds * 1000)
  const cpu = process.cpuUsage(before)
  const took = (performance.now() - began) / 1000
  const { writes, seconds: all } = await writer.stop()
  await sleep(200)
  return { cpuUs: cpu.user + cpu.system, writes: (writes / all) * took, seconds: took }
}

/**
 * Reads all events of the watcher, as a connection does, but only counts their bytes instead of
 * writing them to a socket.
 */
function drain(watcher: Watcher, tally: { deliveries: number; bytes: number }): void {
  const pull = (): void => {
    for (let events = watcher.take(); events.length > 0; events = watcher.take()) {
      for (const event of events) {
        if (event.type === 'BOOKMARK') continue
        tally.bytes += event.frame().length
        tally.deliveries++
      }
    }
    if (watcher.state !== 'closed') watcher.onReady(pull)
  }
  pull()
}
