/**
 * Measures ticks: how much CPU time the main thread uses in each iteration of the event loop,
 * without garbage collection. The clock is read once per iteration in which any work was done. A
 * short tick counts with its elapsed time, without idle time. A long tick counts with at most the
 * CPU time of the thread, because the thread also waits for a CPU on a busy machine.
 */
import { performance } from 'node:perf_hooks'
import type { Log } from './log.ts'
import type { Distribution } from './metrics.ts'
import type { NotedWork, RunningWork } from '../scheduling/running-work.ts'

/**
 * Ticks of at least this duration count as long. CPU time and garbage collections are considered
 * only for long ticks.
 */
const LONG_MS = 10
/** Ticks longer than this are logged. There can be at most ten of them per second. */
const LOGGED_MS = 100

export const tickBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** A period of time, by the monotonic clock. */
type Span = { readonly fromMs: number; readonly toMs: number }
/**
 * A long tick. `cpuShare` is the share of the tick in which the thread used a CPU. For the rest of
 * the tick, it waited for one.
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
   * When the CPU time was last read. It is read rarely. The CPU time since then is the maximum for
   * a tick that ends now.
   */
  #cpuReadMs: number
  #cpuMs: number
  /**
   * Long ticks that are not counted yet, because Node reports garbage collections some time later.
   */
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

  /** Records a garbage collection. `startMs` is a time of the monotonic clock. */
  collected(startMs: number, durationMs: number): void {
    if (this.#long.length > 0 || startMs + durationMs > this.#nowMs - LONG_MS) {
      this.#collections.push({ fromMs: startMs, toMs: startMs + durationMs })
    }
  }

  /**
   * Counts and logs the recorded long ticks. Called some time after the ticks, when Node has
   * reported all garbage collections in them.
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
