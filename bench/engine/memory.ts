/**
 * Measures the cache with 100,000 Pods of 2 KB after 1,000,000 random updates, while a watcher
 * receives all of them. The figures are the resident memory beyond that of an empty process, and
 * the longest time that the event loop was blocked. The cache runs in a separate process.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { PlainCache } from '../../test/support/harness/plain-cache.ts'
import type { Figure } from '../report/figure.ts'
import { startWriter, writeMany } from './writer.ts'

const OBJECTS = 100_000
const OBJECT_BYTES = 2_048
/** Node flags for the measured process. They are the same as in bin/keelson. */
const nodeFlags = ['--max-semi-space-size=16']
const environment = { MALLOC_MMAP_THRESHOLD_: '524288', MALLOC_ARENA_MAX: '2' }
/**
 * Interval at which etcd's history is compacted, as a server does. Without compaction, etcd would
 * retain gigabytes.
 */
const COMPACT_EVERY_MS = 10_000

export async function benchMemory({
  updates = 1_000_000,
}: {
  readonly updates?: number
}): Promise<Figure[]> {
  await using etcd = await startEtcd({
    args: ['--quota-backend-bytes', String(16 << 30), '--snapshot-count', '10000'],
  })
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const child = fork(import.meta.filename, [etcd.clientUrl], {
    execArgv: nodeFlags,
    env: { ...process.env, ...environment },
  })
  try {
    const load = {
      endpoint: etcd.clientUrl,
      resources: 1,
      keysPerResource: OBJECTS,
      valueBytes: OBJECT_BYTES,
    }
    const [empty] = await ask(child, 'empty')
    await writeMany({ ...load, count: OBJECTS })
    const [filled] = await ask(child, 'fill')
    const writer = startWriter({ ...load, random: true, count: updates })
    const compacting = setInterval(() => void compact(client), COMPACT_EVERY_MS)
    const written = await writer.done()
    clearInterval(compacting)
    const [churned] = await ask(child, `after ${written.revision}`)
    const storedBytes = OBJECTS * OBJECT_BYTES
    const times = (rss: number): number => (rss - empty.rss) / storedBytes
    return [
      {
        name: `memory of ${OBJECTS} objects of 2 KB, listed`,
        value: times(filled.rss),
        unit: 'times',
      },
      {
        name: `memory after ${updates} random updates`,
        value: times(churned.rss),
        unit: 'times',
        target: { below: 2.2 },
        note: `${mib(empty.rss)} MiB empty, ${mib(churned.rss)} MiB now, heap ${mib(churned.heap)}, buffers ${mib(churned.buffers)}, slabs ${(churned.slabBytes / storedBytes).toFixed(2)} times; ${Math.round(written.writes / written.seconds)} updates/s`,
      },
      {
        name: 'longest time that the event loop was blocked by its own thread',
        value: churned.heldMs,
        unit: 'ms CPU',
        target: { below: 50 },
        note: `longest collection ${churned.gcMs.toFixed(1)} ms; ${churned.events} events seen`,
      },
      {
        name: 'longest pause of the event loop in wall-clock time',
        value: churned.pauseMs,
        unit: 'ms',
        target: { below: 50 },
        note: 'etcd, the writer and this process compete for two cores',
      },
    ]
  } finally {
    child.kill('SIGKILL')
  }
}

const mib = (bytes: number): number => Math.round(bytes / (1 << 20))

type Report = {
  rss: number
  heldMs: number
  heap: number
  buffers: number
  slabBytes: number
  pauseMs: number
  gcMs: number
  events: number
}

async function ask(child: ChildProcess, question: string): Promise<[Report]> {
  const answer = once(child, 'message')
  child.send(question)
  const [report] = await answer
  return [report]
}

async function compact(client: EtcdClient): Promise<void> {
  const { revision } = await client.kv.range({ key: Buffer.from('\0') })
  await client.kv.compact({ revision: revision - 10_000 }).catch(() => undefined)
}

/**
 * Records the maximum CPU time that this thread used between two ticks of its event loop.
 * Wall-clock time would include time in which the machine ran other processes.
 */
class HeldTime {
  longestMs = 0
  #before = process.threadCpuUsage()

  constructor() {
    setInterval(() => {
      const now = process.threadCpuUsage()
      const usedMs = (now.user + now.system - this.#before.user - this.#before.system) / 1000
      this.#before = now
      this.longestMs = Math.max(this.longestMs, usedMs)
    }, 1).unref()
  }

  reset(): void {
    this.longestMs = 0
  }
}

/** Measures the cache. This function runs in the measured process. */
async function measured(endpoint: string): Promise<void> {
  const plain = new PlainCache([endpoint])
  await plain.cache.start()
  const reader = plain.reader('bench0')
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const held = new HeldTime()
  const seen = { events: 0, gcMs: 0 }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.gcMs = Math.max(seen.gcMs, entry.duration)
  }).observe({ entryTypes: ['gc'] })
  const report = (): Report => ({
    rss: process.memoryUsage.rss(),
    heap: process.memoryUsage().heapTotal,
    buffers: process.memoryUsage().arrayBuffers,
    slabBytes: plain.cache.stats().slabBytes,
    heldMs: held.longestMs,
    pauseMs: Number.isFinite(delay.max) ? delay.max / 1e6 : 0,
    ...seen,
  })
  const follow = async (): Promise<void> => {
    const watcher = await reader.watch({ range: plain.range('bench0'), start: { initial: 'any' } })
    for await (const events of watcher) {
      for (const event of events)
        if ('frame' in event) seen.events += event.frame().length > 0 ? 1 : 0
    }
  }
  process.on('message', (question: string) => {
    void (async () => {
      if (question === 'fill') {
        await reader.list(plain.range('bench0'), 'latest')
        void follow()
        await sleep(3_000)
        delay.enable()
        delay.reset()
        held.reset()
        seen.gcMs = 0
      }
      if (question.startsWith('after')) {
        const revision = Number(question.split(' ')[1])
        await reader.get('/registry/none', { atLeast: revision })
        delay.disable()
      }
      process.send?.(report())
    })()
  })
}

if (process.argv[1] === import.meta.filename && process.argv[2] !== undefined)
  await measured(process.argv[2])
