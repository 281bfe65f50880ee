/**
 * A FeedStream for engines in this process. It follows etcd's rules:
 * - A range that starts in the past is replayed in batches until it is synced. From then on it gets
 *   each revision as it happens.
 * - Events and progress share one queue, so progress never overtakes events.
 * - Progress requests are answered only while all ranges are synced.
 */
import { Deque } from '../lib/collections/deque.ts'
import { thenMaybe } from '../lib/concurrency/maybe-promise.ts'
import type { Timers } from '../lib/time/timers.ts'
import type {
  FeedEvent,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  Key,
  Revision,
} from './engine.ts'

/** All changes of one revision, in key order. */
export type Commit = { readonly revision: Revision; readonly events: readonly FeedEvent[] }

export type CommitsQuery = {
  readonly after: Revision
  readonly most: number
  readonly previous: boolean
  /** The first key of the requested range. Events of keys outside the range can be omitted. */
  readonly from: Key
  readonly to: Key
}

export type FeedSource = {
  /** The latest revision that has been committed and reported to event feeds. */
  readonly revision: Revision
  /** The oldest revision that can be read. */
  readonly compacted: Revision
  /**
   * Returns the first commits after a revision, or undefined if that revision has been compacted.
   */
  readonly commitsAfter: (
    query: CommitsQuery,
  ) => readonly Commit[] | undefined | Promise<readonly Commit[] | undefined>
}

/** Maximum number of revisions that a range gets at once during a replay, as in etcd. */
const REPLAYED_AT_ONCE = 1_000
/**
 * Maximum number of calls to the event feed's listener in one tick of the event loop. Later calls
 * wait for the next tick.
 */
const TOLD_AT_ONCE = 64

type RangeState = FeedRange & {
  told: Revision
  /**
   * `replaying`: the range needs earlier commits. `asking`: these commits have been requested from
   * the source. `synced`: the range gets each commit as it happens. `gone`: its history was
   * compacted.
   */
  state: 'replaying' | 'asking' | 'synced' | 'gone'
}

export type LocalFeedStreamOptions = FeedStreamOptions & {
  readonly source: FeedSource
  readonly timers: Timers
  readonly ranges: readonly FeedRange[]
  readonly sink: FeedListener
  /** Whether the database is paused. When it resumes, it calls `schedule`. */
  readonly isPaused: () => boolean
  readonly onClosed: (feed: LocalFeedStream) => void
}

export class LocalFeedStream implements FeedStream {
  readonly #options: LocalFeedStreamOptions
  readonly #ranges: readonly RangeState[]
  readonly #queue = new Deque<() => void>()
  #isScheduled = false
  #isOpened = false
  #isProgressWanted = false
  #isEnded = false

  constructor(options: LocalFeedStreamOptions) {
    this.#options = options
    this.#ranges = options.ranges.map((range) => ({
      ...range,
      told: range.after,
      state: 'replaying',
    }))
    this.schedule()
  }

  requestProgress(): void {
    if (this.#isEnded) return
    if (!this.#isOpened) this.#isProgressWanted = true
    else this.#answerProgress()
  }

  close(): void {
    this.end(undefined)
  }

  end(cause: Error | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#options.onClosed(this)
    this.#options.sink.onEnd(cause)
  }

  /**
   * Delivers a commit to the synced ranges. Other ranges get the commit in their replay. So do
   * ranges that need previous values, because only a replay has previous values.
   */
  commit(commit: Commit): void {
    for (const [index, range] of this.#ranges.entries()) {
      if (range.state !== 'synced') continue
      if (this.#options.previous !== true) this.#deliver(index, range, [commit])
      else {
        range.state = 'replaying'
        this.schedule()
      }
    }
  }

  /** Schedules the next delivery of events, in a later tick of the event loop. */
  schedule(): void {
    if (this.#isScheduled || this.#isEnded) return
    this.#isScheduled = true
    this.#options.timers.defer(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    if (this.#isEnded || this.#options.isPaused()) return
    for (const [index, range] of this.#ranges.entries())
      if (range.state === 'replaying') this.#replay(index, range)
    this.#isOpened = true
    if (this.#isProgressWanted) this.#answerProgress()
    this.#isProgressWanted = false
    for (let reported = 0; reported < TOLD_AT_ONCE && !this.#isEnded; reported++) {
      const report = this.#queue.shift()
      if (report === undefined) break
      report()
    }
    if (this.#queue.length > 0 || this.#ranges.some(({ state }) => state === 'replaying'))
      this.schedule()
  }

  #replay(index: number, range: RangeState): void {
    const { source, previous = false } = this.#options
    range.state = 'asking'
    const replayed = thenMaybe(
      source.commitsAfter({
        after: range.told,
        most: REPLAYED_AT_ONCE,
        previous,
        from: range.from,
        to: range.to,
      }),
      (commits) => {
        if (!this.#isEnded) this.#take(index, range, commits)
      },
    )
    if (replayed instanceof Promise) replayed.catch((error: Error) => this.end(error))
  }

  #take(index: number, range: RangeState, commits: readonly Commit[] | undefined): void {
    const { source, sink } = this.#options
    if (commits === undefined) {
      range.state = 'gone'
      const oldest = source.compacted
      this.#send(() => sink.onCompacted(index, oldest))
      return
    }
    this.#deliver(index, range, commits)
    // A range that starts at a future revision is synced immediately. It gets the events after that
    // revision.
    range.state = range.told >= source.revision ? 'synced' : 'replaying'
    this.schedule()
  }

  #deliver(index: number, range: RangeState, commits: readonly Commit[]): void {
    const events = commits.flatMap(({ revision, events: all }) =>
      revision > range.told ? all.filter(({ key }) => key >= range.from && key < range.to) : [],
    )
    range.told = Math.max(range.told, commits.at(-1)?.revision ?? 0)
    if (events.length === 0) return
    this.#send(() => this.#options.sink.onEvents(index, events))
  }

  #answerProgress(): void {
    const { source, sink } = this.#options
    const { revision } = source
    const isVouchedFor = ({ state, after }: RangeState): boolean =>
      state === 'gone' || (state === 'synced' && after <= revision)
    if (this.#ranges.every(isVouchedFor)) this.#send(() => sink.onProgress(revision))
  }

  #send(report: () => void): void {
    this.#queue.push(report)
    this.schedule()
  }
}
