/**
 * The standard metrics of a process, with the names that all Prometheus exporters use, and metrics
 * of the event loop and the garbage collector.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { platform } from '../platform/current-platform.ts'
import type { Clock } from '../time/clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { runningWork } from '../scheduling/running-work.ts'
import { tickBounds, Ticks } from './ticks.ts'
import { turnEnd } from '../time/turn-end.ts'

/**
 * Adds the metrics. Some values are measured continuously, until the returned value is disposed of.
 * All others are read on each scrape. `isShared` means that several servers run in this process, as
 * in tests. No value is then measured continuously.
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

/**
 * Adds the start time of the process. Endpoints with few metrics call only this function, because
 * clients use the start time to detect that counters were reset.
 */
export function addStartTime(metrics: Metrics, clock: Clock): void {
  const help = 'Start time of the process, in seconds since the Unix epoch.'
  const start = metrics.gauge({ name: 'process_start_time_seconds', help }).with()
  start.value = (clock.wallMs() - process.uptime() * 1000) / 1000
}

function addUsage(metrics: Metrics): void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with()
  const cpu = metrics
    .counter({
      name: 'process_cpu_seconds_total',
      help: 'Total CPU time of the process, in seconds.',
    })
    .with()
  const resident = gauge(
    'process_resident_memory_bytes',
    'Resident memory of the process, in bytes.',
  )
  const heap = gauge('nodejs_heap_used_bytes', 'JavaScript heap in use, in bytes.')
  const external = gauge(
    'nodejs_external_memory_bytes',
    'Memory outside of the JavaScript heap, such as buffers, in bytes.',
  )
  metrics.onPrint(() => {
    const { user, system } = process.cpuUsage()
    cpu.value = (user + system) / 1e6
    const memory = getHeapStatistics()
    heap.value = memory.used_heap_size
    external.value = memory.external_memory
  })
  onPrintFromFiles(metrics, () => (resident.value = process.memoryUsage.rss()))
}

/** Adds a function that reads values from /proc before each scrape. */
function onPrintFromFiles(metrics: Metrics, update: () => void): void {
  metrics.onPrint(() => {
    try {
      update()
    } catch {
      // The process cannot open more files, or /proc is missing. Keep the previous values and do
      // not fail, because an operator then especially needs the other metrics.
    }
  })
}

/** Adds metrics about resource limits, which only some operating systems report. */
function addLimits(metrics: Metrics): void {
  const readUsage = platform.usage
  if (readUsage === undefined) return
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with()
  const counter = (name: string, help: string) => metrics.counter({ name, help }).with()
  const virtual = gauge('process_virtual_memory_bytes', 'Virtual memory of the process, in bytes.')
  const virtualMax = gauge(
    'process_virtual_memory_max_bytes',
    'Maximum virtual memory of the process, in bytes.',
  )
  const open = gauge('process_open_fds', 'Number of open file descriptors, including sockets.')
  const max = gauge('process_max_fds', 'Maximum number of open file descriptors.')
  const received = counter(
    'process_network_receive_bytes_total',
    'Bytes received in the network namespace of the process.',
  )
  const sent = counter(
    'process_network_transmit_bytes_total',
    'Bytes sent in the network namespace of the process.',
  )
  onPrintFromFiles(metrics, () => {
    const usage = readUsage()
    virtual.value = usage.virtualBytes
    virtualMax.value = usage.virtualBytesMax
    open.value = usage.openFiles
    max.value = usage.openFilesMax
    received.value = usage.receivedBytes
    sent.value = usage.sentBytes
  })
}

/**
 * Interval between probes of the event loop. Each probe wakes up an idle server: with an interval
 * of 50 ms, two hundred idle servers on one machine used half of a CPU core.
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
      help: 'CPU time of the main thread per tick of the event loop, excluding garbage collection.',
    },
    tickBounds,
  )
  const ticks = new Ticks({ series: histogram.with(), log, work: runningWork })
  turnEnd.onEnd(ticks.read)
  return ticks
}

/**
 * Measures the delay between the scheduled time of a timer and the time at which the timer fires. A
 * new request waits about as long before it is processed.
 */
function measureLag(metrics: Metrics, { monotonicMs }: Clock, onProbe: () => void): () => void {
  const lag = metrics.histogram(
    {
      name: 'keelson_event_loop_lag_seconds',
      help: 'Delay in seconds between the scheduled time of a timer and the time at which it fired, measured every 250 ms. A new request waits for about the same time before it is processed.',
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

/**
 * The bucket bounds for garbage collections, in seconds. Other Node.js programs use the same
 * bounds.
 */
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
      help: 'Duration of the pauses for garbage collection in seconds.',
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
