/**
 * What the event loop works on, so that a turn that took long can be attributed. To note it costs a
 * comparison and two assignments.
 */

export type Work = {
  /** The part of the work that runs. */
  readonly step: string
  /** The size of what it works on, as far as it is known. */
  readonly bytes: number
  /** For a log line. It has no secrets. */
  describe(): Readonly<Record<string, unknown>>
}

export type NotedWork = { readonly work: Work; readonly step: string }

export class RunningWork {
  #current: Work | undefined
  #largest: Work | undefined

  /** The work that was noted last. Work that continues in a later turn notes itself again. */
  get current(): Work | undefined {
    return this.#current
  }

  note(work: Work): void {
    this.#current = work
    if (this.#largest === undefined || work.bytes >= this.#largest.bytes) this.#largest = work
  }

  /** A turn begins. */
  forget(): void {
    this.#largest = undefined
  }

  /**
   * The work on the largest object of this turn, which most likely took the most time; or what was
   * noted last.
   */
  largest(): NotedWork | undefined {
    const work = this.#largest ?? this.#current
    return work === undefined ? undefined : { work, step: work.step }
  }
}

/** Of the loop of this thread. */
export const runningWork = new RunningWork()
