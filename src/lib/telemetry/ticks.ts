/**
 * Measures ticks: the CPU time of the main thread per iteration of the event loop, without garbage
 * collection. The clock is read once in each iteration of the event loop in which any work was
 * done. For a short tick, the elapsed time without idle time is used. For a long tick, the CPU time
 * of the thread is an additional upper bound, so that a busy machine does not make the tick longer.
 */
import { performance } from 'node:perf_hooks'
import type { Log } from './log.ts'
import type { Distribution } from './metrics.ts'
import type { NotedWork, RunningWork } from '../scheduling/running-work.ts'

/** Minimum duration of a long tick, for which CPU time and garbage collections are considered. */
const LONG_MS = 10
/** Ticks longer than this are logged. There can be at most ten of them per second. */
const LOGGED_MS = 100

export const tickBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** A span on the monotonic clock. */
type Span = { readonly fromMs: number; readonly toMs: number }
/**
 * A long tick. `cpuShare` is the CPU time as a share of the time in which the event loop was not
 * idle. During the rest of this time, the thread waited for a CPU.
 */
type LongTick = Span & {
  readonly ms: number
  readonly cpuShare: number
  readonly noted: NotedWork | undefined
}

export type TickReadings = {
  readonly nowMs: () => number
  /** Total time for which the event loop has been idle. */
  readonly idleMs: () => number
  /** CPU time of this thread. */
  readonly cpuMs: () => number
}

export const systemReadings: TickReadings = {
  nowMs: () => performance.now(),
  idleMs: () => performance.nodeTiming.idleTime,
  cpuMs: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

export type TicksOptions = {
  readonly series: Distribution
  readonly log: Log
  readonly work: RunningWork
  readonly readings?: TickReadings
}

export class Ticks {
  readonly #series: Distribution
  readonly #log: Log
  readonly #work: RunningWork
  readonly #readings: TickReadings
  #nowMs: number
  #idleMs: number
  /**
   * Time at which the CPU time was last read, which happens rarely. A tick cannot have taken more
   * than the CPU time used since then.
   */
  #cpuReadMs: number
  #cpuMs: number
  /** Long ticks that wait until the garbage collections in them are reported. */
  #long: LongTick[] = []
  #collections: Span[] = []

  constructor({ series, log, work, readings = systemReadings }: TicksOptions) {
    this.#series = series
    this.#log = log
    this.#work = work
    this.#readings = readings
    this.#nowMs = readings.nowMs()
    this.#idleMs = readings.idleMs()
    this.#cpuReadMs = this.#nowMs
    this.#cpuMs = readings.cpuMs()
  }

  /** Measures the current tick. Called at the end of each iteration of the event loop. */
  readonly read = (): void => {
    const nowMs = this.#readings.nowMs()
    const idleMs = this.#readings.idleMs()
    const ms = nowMs - this.#nowMs - (idleMs - this.#idleMs)
    if (ms >= LONG_MS) this.#keep(nowMs, ms)
    else this.#series.observe(ms / 1000)
    if (nowMs - this.#cpuReadMs >= LONG_MS) {
      this.#cpuReadMs = nowMs
      this.#cpuMs = this.#readings.cpuMs()
    }
    this.#nowMs = nowMs
    this.#idleMs = idleMs
    this.#work.forget()
  }

  /** Records a garbage collection. The times are on the monotonic clock. */
  collected(startMs: number, durationMs: number): void {
    if (this.#long.length > 0 || startMs + durationMs > this.#nowMs - LONG_MS) {
      this.#collections.push({ fromMs: startMs, toMs: startMs + durationMs })
    }
  }

  /**
   * Counts and logs the long ticks so far. Called some time after they ended, when all garbage
   * collections in them are known.
   */
  flush(): void {
    const [ticks, collections] = [this.#long, this.#collections]
    this.#long = []
    this.#collections = []
    for (const tick of ticks) {
      const collectedMs =
        tick.cpuShare * collections.reduce((sum, one) => sum + sharedMs(one, tick), 0)
      const ms = Math.max(0, tick.ms - collectedMs)
      this.#series.observe(ms / 1000)
      if (ms > LOGGED_MS) this.#tell(tick, ms, collectedMs)
    }
  }

  #keep(nowMs: number, ms: number): void {
    const cpuShare = Math.min(1, (this.#readings.cpuMs() - this.#cpuMs) / ms)
    const noted = this.#work.largest()
    this.#long.push({ fromMs: this.#nowMs, toMs: nowMs, ms: ms * cpuShare, cpuShare, noted })
  }

  #tell({ noted, fromMs, toMs }: LongTick, ms: number, collectedMs: number): void {
    this.#log('warn', 'event loop blocked', {
      cpuMs: Math.round(ms),
      gcMs: Math.round(collectedMs),
      wallMs: Math.round(toMs - fromMs),
      ...(noted === undefined ? {} : { step: noted.step, ...noted.work.describe() }),
    })
  }
}

const sharedMs = (one: Span, other: Span): number =>
  Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs))
