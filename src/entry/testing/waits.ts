/**
 * Waits for conditions in the tests of a cluster, and records which objects the conditions read.
 * Error messages describe these objects.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { describeTarget, explainWait, targetOfPath } from './explain-wait.ts'
import type { HistoryFilter } from './recorded-request.ts'
import type { TimelineEntry } from './timeline.ts'
import { type Condition, type OnWrite, waitFor, type WaitOptions } from './wait-for.ts'

export type WaitsOptions = {
  readonly onWrite: OnWrite
  readonly timeline: (filter?: HistoryFilter) => TimelineEntry[]
}

/** Maximum number of objects that an error message describes. */
const TARGETS_MAX = 3

export class Waits {
  readonly #options: WaitsOptions
  /** The paths that a condition has read during its current check. */
  readonly #paths = new AsyncLocalStorage<Set<string>>()

  constructor(options: WaitsOptions) {
    this.#options = options
  }

  /** Records the path of a request, if a condition has sent the request. */
  noteRead(path: string): void {
    this.#paths.getStore()?.add(path)
  }

  /** Waits for a condition. `describe` returns a description of the condition's last value. */
  wait<T>(
    condition: Condition<T>,
    options: WaitOptions | undefined,
    describe?: () => string,
  ): Promise<T> {
    let paths = new Set<string>()
    const check: Condition<T> = () => {
      paths = new Set()
      return this.#paths.run(paths, condition)
    }
    const { onWrite, timeline } = this.#options
    const explain = (): string[] => {
      const targets = [...paths].flatMap((path) => targetOfPath(path) ?? [])
      const byName = new Map(targets.map((target) => [describeTarget(target), target]))
      return explainWait([...byName.values()].slice(0, TARGETS_MAX), timeline)
    }
    const text = describe === undefined ? String(condition) : undefined
    return waitFor(check, { onWrite, explain, text, describe }, options)
  }
}
