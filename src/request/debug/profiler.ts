/**
 * Records profiles of this process with V8's profilers, one at a time.
 *
 * A running profiler costs little, because it only takes samples. However, the process pauses when
 * a profile begins or ends, and the pause is longer for a larger heap. V8 searches the heap for
 * compiled functions before a CPU profile, and collects all garbage before it reports allocations.
 * With a heap of 84 MB, this takes about a second. Heap snapshots are not offered, because they
 * would pause the process many times as long. Requesting the profile from another thread
 * (`connectToMainThread`) would not help, because V8 would still do the work on this thread.
 *
 * Therefore, after a profile, the next profile is delayed until the pause is a small fraction of
 * the elapsed time. Each profile is logged, so that delays of the event loop can be explained.
 */
import type { HeapProfiler, Profiler as CpuProfiler } from 'node:inspector'
import type { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Log } from '../../lib/telemetry/log.ts'
import { encodePprof } from './pprof.ts'
import { Rest } from './rest.ts'
import { cpuStacks, heapStacks } from './stacks.ts'

/**
 * Sampling period of a CPU profile, as in Go: 100 samples per second. A profile of several minutes
 * is then small enough to be transferred in a few milliseconds.
 */
const CPU_PERIOD_US = 10_000
/** Sampling period of a heap profile in bytes, as in Go. */
const HEAP_PERIOD_BYTES = 512 * 1024
/** Maximum number of events in a trace. Further events are dropped. */
const TRACE_EVENTS_MAX = 100_000
/**
 * Categories of a trace: garbage collections, files, sockets and threads. `node.async_hooks` is
 * left out, because it would slow down the whole process.
 */
const traceCategories = [
  'v8',
  'node.perf',
  'node.net.native',
  'node.fs.async',
  'node.threadpoolwork.async',
  'node.dns.native',
]

const compress = promisify(gzip)

/** Thrown if another profile is being recorded. */
export class ProfilerBusy extends Error {
  override readonly name = 'ProfilerBusy'
}

export type ProfileOptions = { readonly seconds: number; readonly signal: AbortSignal }

export class Profiles {
  readonly #log: Log
  #isBusy = false
  readonly #rest = new Rest()

  constructor(log: Log) {
    this.#log = log
  }

  /** Records a CPU profile. Returns a compressed profile.proto, or V8's own format for Chrome. */
  cpu({ seconds, signal }: ProfileOptions, form: 'pprof' | 'chrome'): Promise<Buffer> {
    return this.#alone('cpu', signal, async (session) => {
      const startMs = Date.now()
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: CPU_PERIOD_US })
      await this.#held(() => session.post('Profiler.start'))
      await lasting(seconds, signal)
      const { profile }: CpuProfiler.StopReturnType = await this.#held(() =>
        session.post('Profiler.stop'),
      )
      if (form === 'chrome') return Buffer.from(JSON.stringify(profile))
      const periodNs = CPU_PERIOD_US * 1000
      const encoded = await encodePprof(cpuStacks(profile, periodNs), {
        types: [
          ['samples', 'count'],
          ['cpu', 'nanoseconds'],
        ],
        period: { type: ['cpu', 'nanoseconds'], value: periodNs },
        startMs,
        durationMs: Date.now() - startMs,
      })
      return compress(encoded)
    })
  }

  /**
   * Records a profile of the memory that is allocated during the given time. The profile covers
   * either all of this memory, or only the memory that is still in use at the end.
   */
  heap({ seconds, signal }: ProfileOptions, { form, isAll }: HeapOptions): Promise<Buffer> {
    return this.#alone('heap', signal, async (session) => {
      const startMs = Date.now()
      const sampling = {
        samplingInterval: HEAP_PERIOD_BYTES,
        includeObjectsCollectedByMajorGC: isAll,
        includeObjectsCollectedByMinorGC: isAll,
      }
      await this.#held(() => session.post('HeapProfiler.startSampling', sampling))
      await lasting(seconds, signal)
      const { profile }: HeapProfiler.StopSamplingReturnType = await this.#held(() =>
        session.post('HeapProfiler.stopSampling'),
      )
      if (form === 'chrome') return Buffer.from(JSON.stringify(profile))
      const what = isAll ? 'alloc' : 'inuse'
      const encoded = await encodePprof(heapStacks(profile, HEAP_PERIOD_BYTES), {
        types: [
          [`${what}_objects`, 'count'],
          [`${what}_space`, 'bytes'],
        ],
        period: { type: ['space', 'bytes'], value: HEAP_PERIOD_BYTES },
        startMs,
        durationMs: Date.now() - startMs,
      })
      return compress(encoded)
    })
  }

  /** Records the activity of the runtime, as events for Chrome's timeline view. */
  trace({ seconds, signal }: ProfileOptions): Promise<Buffer> {
    return this.#alone('trace', signal, async (session) => {
      const events: object[] = []
      const over = new Promise<void>((resolve) =>
        session.once('NodeTracing.tracingComplete', () => resolve()),
      )
      session.on('NodeTracing.dataCollected', ({ params }) => {
        if (events.length < TRACE_EVENTS_MAX) events.push(...params.value)
      })
      await session.post('NodeTracing.start', {
        traceConfig: { includedCategories: traceCategories },
      })
      await lasting(seconds, signal)
      await session.post('NodeTracing.stop')
      await over
      return printTrace(events)
    })
  }

  /**
   * Runs a command that pauses the process, and records the duration of the pause. V8 executes the
   * command before `ask` returns; the promise only delivers the result.
   */
  #held<T>(ask: () => Promise<T>): Promise<T> {
    const startMs = performance.now()
    const answer = ask()
    const nowMs = performance.now()
    this.#rest.record(nowMs - startMs, nowMs)
    return answer
  }

  async #alone(
    what: string,
    signal: AbortSignal,
    take: (session: Session) => Promise<Buffer>,
  ): Promise<Buffer> {
    if (this.#isBusy) throw new ProfilerBusy('cpu profiling already in use')
    this.#isBusy = true
    try {
      await sleep(this.#rest.waitMs(performance.now()), undefined, { signal })
      this.#log(
        'info',
        'recording a profile; the server may pause when the profile begins and ends',
        {
          what,
        },
      )
      const { Session: Inspecting } = await import('node:inspector/promises')
      const session = new Inspecting()
      session.connect()
      try {
        return await take(session)
      } finally {
        // Disconnecting also stops profilers that are still running.
        session.disconnect()
      }
    } finally {
      this.#isBusy = false
    }
  }
}

export type HeapOptions = { readonly form: 'pprof' | 'chrome'; readonly isAll: boolean }

/** Waits until the time has passed. Fails when the client disconnects. */
async function lasting(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal })
}

const TURN_EVENTS = 2_000

async function printTrace(events: readonly object[]): Promise<Buffer> {
  const parts: string[] = []
  for (let at = 0; at < events.length; at += TURN_EVENTS) {
    if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    parts.push(
      events
        .slice(at, at + TURN_EVENTS)
        .map((event) => JSON.stringify(event))
        .join(',\n'),
    )
  }
  return Buffer.from(`{"traceEvents":[\n${parts.join(',\n')}\n]}\n`)
}
