/**
 * The usual metrics of a process, under the names that all exporters use, and those of its event
 * loop and its collector.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Clock } from '../time/clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { runningWork } from '../scheduling/running-work.ts'
import { tickBounds, Ticks } from './ticks.ts'
import { turnEnd } from '../time/turn-end.ts'

/**
 * Disposing ends what measures all the time; the rest is read when it is scraped. `isShared`: other
 * servers are in the same process, as in tests, and none of them measures all the time.
 */
export function addProcessMetrics(
  metrics: Metrics,
  clock: Clock,
  {
    isShared = false,
    log = () => undefined,
  }: { readonly isShared?: boolean; readonly log?: Log } = {},
): Disposable {
  addUsage(metrics)
  addStartTime(metrics, clock)
  addLimits(metrics)
  const stops = isShared ? [] : measureLoop(metrics, clock, log)
  return {
    [Symbol.dispose]: () => {
      for (const stop of stops) stop()
    },
  }
}

/** By itself it is for a page of few metrics, whose counters begin anew with the process. */
export function addStartTime(metrics: Metrics, clock: Clock): void {
  const help = 'When the process started, in seconds since 1970.'
  const start = metrics.gauge({ name: 'process_start_time_seconds', help }).with()
  start.value = (clock.wallMs() - process.uptime() * 1000) / 1000
}

function addUsage(metrics: Metrics): void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with()
  const cpu = metrics
    .counter({ name: 'process_cpu_seconds_total', help: 'Time that the process has computed.' })
    .with()
  const resident = gauge('process_resident_memory_bytes', 'Memory that the process holds.')
  const heap = gauge('nodejs_heap_used_bytes', 'Memory that objects of the program take.')
  const external = gauge('nodejs_external_memory_bytes', 'Memory outside of the heap: buffers.')
  metrics.onPrint(() => {
    const { user, system } = process.cpuUsage()
    cpu.value = (user + system) / 1e6
    const memory = getHeapStatistics()
    heap.value = memory.used_heap_size
    external.value = memory.external_memory
  })
  onPrintFromFiles(metrics, () => (resident.value = process.memoryUsage.rss()))
}

/** For values that the kernel tells in files. */
function onPrintFromFiles(metrics: Metrics, update: () => void): void {
  metrics.onPrint(() => {
    try {
      update()
    } catch {
      // No file can be opened any more, or /proc is not there. What was read last stays, and the
      // other metrics are needed all the more.
    }
  })
}

/** What Go's client prints for no limit: the largest unsigned 64-bit integer. */
const UNLIMITED = 2 ** 64

/** Linux alone tells these. */
function addLimits(metrics: Metrics): void {
  if (process.platform !== 'linux') return
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with()
  const counter = (name: string, help: string) => metrics.counter({ name, help }).with()
  const virtual = gauge('process_virtual_memory_bytes', 'Address space that the process holds.')
  const virtualMax = gauge('process_virtual_memory_max_bytes', 'Address space that it may hold.')
  const open = gauge('process_open_fds', 'Files and sockets that are open.')
  const max = gauge('process_max_fds', 'How many there may be.')
  const received = counter(
    'process_network_receive_bytes_total',
    'Bytes that came over the network of the process.',
  )
  const sent = counter('process_network_transmit_bytes_total', 'Bytes that left over it.')
  onPrintFromFiles(metrics, () => {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    virtual.value =
      Number(/^VmSize:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * 1024
    virtualMax.value = limitOf(limits, 'Max address space')
    open.value = readdirSync('/proc/self/fd').length
    max.value = limitOf(limits, 'Max open files')
    const octets = readOctets(readFileSync('/proc/self/net/netstat', 'utf8'))
    received.value = octets['InOctets'] ?? 0
    sent.value = octets['OutOctets'] ?? 0
  })
}

/** Files and sockets that this process may have open; Infinity: any number, or nobody tells. */
export function openFilesMax(): number {
  try {
    return limitOf(readFileSync('/proc/self/limits', 'utf8'), 'Max open files') || Infinity
  } catch {
    return Infinity
  }
}

function limitOf(limits: string, name: string): number {
  const line = limits.split('\n').find((one) => one.startsWith(name)) ?? ''
  const soft = line.slice(name.length).trim().split(/\s+/)[0] ?? ''
  return soft === 'unlimited' ? UNLIMITED : Number(soft)
}

/** A line of names, then a line of their values. */
function readOctets(netstat: string): { readonly [name: string]: number } {
  const [names = '', values = ''] = netstat.split('\n').filter((line) => line.startsWith('IpExt:'))
  const numbers = values.split(' ')
  return Object.fromEntries(names.split(' ').map((name, at) => [name, Number(numbers[at])]))
}

/**
 * Each look wakes an idle server: at 50 ms, two hundred idle servers on one machine took half of a
 * core.
 */
const LOOP_PROBE_MS = 250
const loopBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

function measureLoop(metrics: Metrics, clock: Clock, log: Log): readonly (() => void)[] {
  const ticks = createTicks(metrics, log)
  return [
    measureLag(metrics, clock, () => ticks.flush()),
    measureCollections(metrics, (startMs, durationMs) => ticks.collected(startMs, durationMs)),
    () => turnEnd.onEnd(undefined),
  ]
}

function createTicks(metrics: Metrics, log: Log): Ticks {
  const histogram = metrics.histogram(
    {
      name: 'keelson_event_loop_tick_seconds',
      help: 'CPU time of the main thread between two chances to serve another request, without garbage collection.',
    },
    tickBounds,
  )
  const ticks = new Ticks({ series: histogram.with(), log, work: runningWork })
  turnEnd.onEnd(ticks.read)
  return ticks
}

/**
 * How much later than due a timer is called: what any request that comes waits for, before it is
 * looked at.
 */
function measureLag(metrics: Metrics, { monotonicMs }: Clock, onProbe: () => void): () => void {
  const lag = metrics.histogram(
    {
      name: 'keelson_event_loop_lag_seconds',
      help: 'How much later than due a timer was called, every 250 ms: what a request waits for before anything is done for it.',
    },
    loopBounds,
  )
  const series = lag.with()
  let dueMs = monotonicMs() + LOOP_PROBE_MS
  const timer = setInterval(() => {
    const nowMs = monotonicMs()
    series.observe(Math.max(0, nowMs - dueMs) / 1000)
    dueMs = nowMs + LOOP_PROBE_MS
    onProbe()
  }, LOOP_PROBE_MS).unref()
  return () => clearInterval(timer)
}

/** As other programs on Node.js have them. */
const collectionBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

const collectionKinds: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

function measureCollections(
  metrics: Metrics,
  onCollected: (startMs: number, durationMs: number) => void,
): () => void {
  const seconds = metrics.histogram(
    {
      name: 'nodejs_gc_duration_seconds',
      help: 'How long the garbage collector held the program.',
      labels: ['kind'],
    },
    collectionBounds,
  )
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      seconds.with(kindOf(entry)).observe(entry.duration / 1000)
      onCollected(entry.startTime, entry.duration)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}

function kindOf(entry: object): string {
  const detail: unknown = 'detail' in entry ? entry.detail : undefined
  const kind =
    typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : undefined
  return (typeof kind === 'number' ? collectionKinds.get(kind) : undefined) ?? 'other'
}
