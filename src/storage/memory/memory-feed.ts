/**
 * A feed of the memory engine, with etcd's rules: a range that starts in the past is replayed in batches until it is synced, and
 * then gets each revision as it happens; events and progress share one queue, so progress never overtakes events; progress is
 * answered only while all ranges are synced.
 */
import { Deque } from '../../lib/deque.ts'
import type { Timers } from '../../lib/timers.ts'
import type { FeedEvent, FeedOptions, FeedRange, FeedSink, FeedStream, Revision } from '../engine.ts'
import type { Commit, MemoryDatabase } from './database.ts'

/** How many revisions a range gets at once while it is replayed, as in etcd. */
const REPLAYED_AT_ONCE = 1_000
/** How many calls of the sink there are in one turn of the event loop. */
const TOLD_AT_ONCE = 64

type RangeState = FeedRange & {
  told: Revision
  state: 'replaying' | 'synced' | 'gone'
}

export type MemoryFeedParts = FeedOptions & {
  readonly database: MemoryDatabase
  readonly timers: Timers
  readonly ranges: readonly FeedRange[]
  readonly sink: FeedSink
  /** Whether the database is paused; `kick` is called when it is resumed. */
  readonly isPaused: () => boolean
  readonly onClosed: (feed: MemoryFeed) => void
}

export class MemoryFeed implements FeedStream {
  readonly #parts: MemoryFeedParts
  readonly #ranges: readonly RangeState[]
  readonly #queue = new Deque<() => void>()
  #isScheduled = false
  #isOpened = false
  #isProgressWanted = false
  #isEnded = false

  constructor(parts: MemoryFeedParts) {
    this.#parts = parts
    this.#ranges = parts.ranges.map((range) => ({ ...range, told: range.after, state: 'replaying' }))
    this.kick()
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
    this.#parts.onClosed(this)
    this.#parts.sink.onEnd(cause)
  }

  /** Delivers a commit to the ranges that are synced; the others get it by their replay. */
  commit(commit: Commit): void {
    for (const [index, range] of this.#ranges.entries()) {
      if (range.state === 'synced') this.#tell(index, range, [commit])
    }
  }

  /** Schedules the next turn. */
  kick(): void {
    if (this.#isScheduled || this.#isEnded) return
    this.#isScheduled = true
    this.#parts.timers.soon(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    if (this.#isEnded || this.#parts.isPaused()) return
    for (const [index, range] of this.#ranges.entries()) if (range.state === 'replaying') this.#replay(index, range)
    this.#isOpened = true
    if (this.#isProgressWanted) this.#answerProgress()
    this.#isProgressWanted = false
    for (let told = 0; told < TOLD_AT_ONCE && !this.#isEnded; told++) {
      const tell = this.#queue.shift()
      if (tell === undefined) break
      tell()
    }
    if (this.#queue.length > 0 || this.#ranges.some(({ state }) => state === 'replaying')) this.kick()
  }

  #replay(index: number, range: RangeState): void {
    const { database, sink } = this.#parts
    const commits = database.commitsAfter(range.told, REPLAYED_AT_ONCE)
    if (commits === undefined) {
      range.state = 'gone'
      const oldest = database.compacted
      this.#send(() => sink.onCompacted(index, oldest))
      return
    }
    this.#tell(index, range, commits)
    // A range that starts at a future revision is synced at once; it gets events after that revision.
    if (range.told >= database.revision) range.state = 'synced'
  }

  #tell(index: number, range: RangeState, commits: readonly Commit[]): void {
    const events = commits.flatMap(({ revision, events: all }) =>
      revision > range.told ? all.filter(({ key }) => key >= range.from && key < range.to) : [],
    )
    range.told = Math.max(range.told, commits.at(-1)?.revision ?? 0)
    if (events.length === 0) return
    const told = this.#parts.previous === true ? events.map((event) => this.#withPrevious(event)) : events
    this.#send(() => this.#parts.sink.onEvents(index, told))
  }

  /** The previous value may be compacted although the event is not. */
  #withPrevious(event: FeedEvent): FeedEvent {
    if (event.type === 'put' && event.createRevision === event.revision) return event
    const previous = this.#parts.database.get(event.key, event.revision - 1)
    return previous === undefined ? event : { ...event, previous }
  }

  #answerProgress(): void {
    const { database, sink } = this.#parts
    const { revision } = database
    const isVouchedFor = ({ state, after }: RangeState): boolean =>
      state === 'gone' || (state === 'synced' && after <= revision)
    if (this.#ranges.every(isVouchedFor)) this.#send(() => sink.onProgress(revision))
  }

  #send(tell: () => void): void {
    this.#queue.push(tell)
    this.kick()
  }
}
