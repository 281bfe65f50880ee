/**
 * Runs the admission plugins in order for one operation on one resource, either to mutate or to
 * validate objects. Records the durations of the plugins.
 */
import { handles, isCounted, type Operation, type StepType } from './handled-operations.ts'
import type { AdmissionMetrics, Label } from './metrics.ts'
import type { Distribution } from '../lib/telemetry/metrics.ts'

/** Measures the duration of each plugin. Reads the clock only once per plugin. */
export class Stopwatch {
  readonly #monotonicMs: () => number
  readonly #beganMs: number
  #lapMs: number

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
    this.#beganMs = monotonicMs()
    this.#lapMs = this.#beganMs
  }

  /**
   * Returns the seconds since the previous call. The first call returns the seconds since the
   * start.
   */
  lap(): number {
    const beforeMs = this.#lapMs
    this.#lapMs = this.#monotonicMs()
    return (this.#lapMs - beforeMs) / 1000
  }

  /** Seconds from the start of the stopwatch to the last call of `lap`. */
  get total(): number {
    return (this.#lapMs - this.#beganMs) / 1000
  }
}

/** A plugin that handles the operation and the resource. */
export type ActingPlugin<Run> = {
  readonly name: string
  readonly run: Run
  /**
   * Durations of the requests that the plugin did not reject. Undefined if the metrics do not
   * include the plugin.
   */
  readonly series: Distribution | undefined
}

type RunPlugin<Run> = (plugin: ActingPlugin<Run>) => Promise<void> | void

type StepOptions<Run> = {
  readonly operation: Operation
  readonly type: StepType
  /** The plugins that handle the operation and the resource, in order. */
  readonly acting: readonly { readonly name: string; readonly run: Run }[]
  /**
   * Names of all enabled plugins, in order. The metrics also count plugins that do not handle the
   * resource.
   */
  readonly running: readonly string[]
  readonly metrics: AdmissionMetrics
}

export class MeasuredStep<Run> {
  readonly acting: readonly ActingPlugin<Run>[]
  readonly #counted: readonly string[]
  readonly #idle: ReturnType<AdmissionMetrics['idle']>
  readonly #passed: ReturnType<AdmissionMetrics['step']> | undefined
  readonly #metrics: AdmissionMetrics
  readonly #label: Label

  constructor({ operation, type, acting, running, metrics }: StepOptions<Run>) {
    const label = { operation, type, isRejected: false }
    this.#label = label
    this.#metrics = metrics
    this.#counted = running.filter((name) => isCounted(name, operation, type))
    this.acting = acting
      .filter(({ name }) => handles(name, operation))
      .map(({ name, run }) => ({
        name,
        run,
        series: isCounted(name, operation, type) ? metrics.plugin(name, label) : undefined,
      }))
    const names = new Set(this.acting.map(({ name }) => name))
    this.#idle = metrics.idle(
      this.#counted.filter((name) => !names.has(name)),
      label,
    )
    this.#passed = running.some((name) => handles(name, operation))
      ? metrics.step(label)
      : undefined
  }

  /**
   * Runs the plugins in order, and measures each one. Fails with the error of the first plugin that
   * rejects the request. Returns a promise only if a plugin has to wait, because most requests pass
   * without waiting.
   */
  runAll(watch: Stopwatch, run: RunPlugin<Run>): Promise<void> | void {
    return this.#runFrom(0, watch, run)
  }

  #runFrom(first: number, watch: Stopwatch, run: RunPlugin<Run>): Promise<void> | void {
    for (let at = first; at < this.acting.length; at++) {
      const plugin = this.acting[at]
      if (plugin === undefined) break
      try {
        const ran = run(plugin)
        if (ran instanceof Promise)
          return this.#waitFor(ran, plugin, watch).then(() => this.#runFrom(at + 1, watch, run))
      } catch (error) {
        this.#rejected(plugin, watch)
        throw error
      }
      const seconds = watch.lap()
      plugin.series?.observe(seconds)
    }
    this.#idle.passes++
  }

  async #waitFor(ran: Promise<void>, plugin: ActingPlugin<Run>, watch: Stopwatch): Promise<void> {
    try {
      await ran
    } catch (error) {
      this.#rejected(plugin, watch)
      throw error
    }
    const seconds = watch.lap()
    plugin.series?.observe(seconds)
  }

  recordPassed({ total }: Stopwatch): void {
    this.#passed?.observe(total)
  }

  /**
   * Records that a plugin rejected the request. Earlier plugins that do not handle the resource are
   * counted as passed. Later plugins are not counted. If the metrics do not include the rejecting
   * plugin, no plugin precedes it.
   */
  #rejected({ name, series }: ActingPlugin<Run>, watch: Stopwatch): void {
    const label = { ...this.#label, isRejected: true }
    const seconds = watch.lap()
    if (series !== undefined) {
      const idle = new Set(this.#idle.names)
      const before = this.#counted
        .slice(0, this.#counted.indexOf(name))
        .filter((one) => idle.has(one))
      for (const one of before) this.#metrics.plugin(one, this.#label).observe(0)
      this.#metrics.plugin(name, label).observe(seconds)
    }
    this.#metrics.step(label).observe(watch.total)
  }
}
