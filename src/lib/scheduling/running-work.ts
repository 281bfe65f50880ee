/**
 * Records what the event loop is working on, so that the cause of a long tick can be found.
 * Recording costs a comparison and two assignments.
 */

export type Work = {
  /** The short name of the current step of the work. */
  readonly step: string
  /** The size of the data that the work processes, if known. */
  readonly bytes: number
  /** Returns the fields of a log entry. They must not contain secrets. */
  describe(): Readonly<Record<string, unknown>>
}

export type NotedWork = { readonly work: Work; readonly step: string }

export class RunningWork {
  #current: Work | undefined
  #largest: Work | undefined

  /**
   * The work that was recorded last. Work that is divided into several ticks is recorded in each of
   * them.
   */
  get current(): Work | undefined {
    return this.#current
  }

  note(work: Work): void {
    this.#current = work
    if (this.#largest === undefined || work.bytes >= this.#largest.bytes) this.#largest = work
  }

  /** Forgets the work of the previous tick. Called when a tick begins. */
  forget(): void {
    this.#largest = undefined
  }

  /**
   * Returns the work on the largest object in this tick, which most likely took the most time. If
   * no size is known, returns the work that was recorded most recently.
   */
  largest(): NotedWork | undefined {
    const work = this.#largest ?? this.#current
    return work === undefined ? undefined : { work, step: work.step }
  }
}

/** The work of the event loop of this thread. */
export const runningWork = new RunningWork()
