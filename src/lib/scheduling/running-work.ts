/**
 * Records what the event loop works on, so that a long tick can be attributed. Recording costs a
 * comparison and two assignments.
 */

export type Work = {
  /** The step that is running. */
  readonly step: string
  /** The size of the data that the work processes, as far as it is known. */
  readonly bytes: number
  /** Returns fields for a log line, without secrets. */
  describe(): Readonly<Record<string, unknown>>
}

export type NotedWork = { readonly work: Work; readonly step: string }

export class RunningWork {
  #current: Work | undefined
  #largest: Work | undefined

  /** The work that was recorded last. Work that continues in a later tick records itself again. */
  get current(): Work | undefined {
    return this.#current
  }

  note(work: Work): void {
    this.#current = work
    if (this.#largest === undefined || work.bytes >= this.#largest.bytes) this.#largest = work
  }

  /** Called when a tick begins. */
  forget(): void {
    this.#largest = undefined
  }

  /**
   * Returns the work on the largest object of this tick, which most likely took the most time. If
   * there is none, returns the work that was recorded last.
   */
  largest(): NotedWork | undefined {
    const work = this.#largest ?? this.#current
    return work === undefined ? undefined : { work, step: work.step }
  }
}

/** The work on the event loop of this thread. */
export const runningWork = new RunningWork()
