/**
 * Implements etcd's rules for versioned keys in memory: one revision counter for all keys, the
 * history of each key since the last compaction, and leases that delete their keys when they
 * expire. Writes take effect synchronously, and large reads run in slices. `memory-engine.ts` adds
 * the asynchronous interface.
 */
import BTreeModule from 'sorted-btree'
import { Deque } from '../../lib/collections/deque.ts'
import { assert } from '../../lib/errors.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type {
  ConditionalWrite,
  FeedEvent,
  RangeResult,
  Key,
  KeyRevision,
  Outcome,
  RangeQuery,
  Revision,
  VersionedValue,
} from '../engine.ts'
import { checkRequestSize, compacted, leaseNotFound, tooNew } from '../etcd-rules.ts'
import { keyAfter } from '../keys.ts'
import type { Commit, CommitsQuery } from '../local-feed-stream.ts'
import { PageCounts } from '../page-counts.ts'
import { KeyHistory } from './key-history.ts'

// sorted-btree is a CommonJS package, so its class is the `default` property of the default import.
const BTree = BTreeModule.default

/**
 * Maximum size of the history, in addition to the current state. The limit is necessary because a
 * small patch of a large object adds the whole object to the history. Above the limit, the older
 * half is compacted early. Event feeds and watches that need the compacted part have to list again.
 */
export const HISTORY_BYTES_MAX = 64 * 1024 * 1024
/** Approximate memory of a commit with one event, excluding values. */
const COMMIT_BYTES = 400

/** A commit, and the number of bytes that are freed when it is compacted. */
type KeptCommit = Commit & { readonly historyBytes: number }

/**
 * The whole database, as a backup. Its content is shared with the database, which copies parts
 * before it changes them.
 */
export type Snapshot = {
  readonly revision: Revision
  readonly compacted: Revision
  readonly histories: Histories
  readonly commits: readonly KeptCommit[]
  readonly leases: readonly {
    readonly id: bigint
    readonly ttlSeconds: number
    readonly keys: readonly Key[]
  }[]
}

export type RewindOptions = {
  readonly isKept: (key: Key) => boolean
  /**
   * Returns whether two values of a key are states of one object. If they are not, the key is
   * deleted before it is put. Returns undefined if the values are not sufficient; the create
   * revisions are then compared.
   */
  readonly isSameObject: (one: Buffer, other: Buffer) => boolean | undefined
}

type RewindKeyOptions = Pick<RewindOptions, 'isSameObject'> & { readonly lease: bigint | undefined }

type Lease = { readonly ttlSeconds: number; readonly keys: Set<Key> }

type Histories = InstanceType<typeof BTree<Key, KeyHistory>>

const byBytes = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0)

const nothing = Buffer.alloc(0)

export class MemoryDatabase {
  readonly #time: SlicesTime
  readonly #onCommit: (commit: Commit) => void
  #histories: Histories = new BTree<Key, KeyHistory>(undefined, byBytes)
  /**
   * Owner of the histories that no snapshot contains, and which can therefore be changed in place.
   * A new owner is created after each snapshot.
   */
  #owner: object = {}
  /** The commits since the last compaction, for event feeds that start at a past revision. */
  #commits = new Deque<KeptCommit>()
  /** Size of the history in `#commits`. */
  #historyBytes = 0
  #revision: Revision = 1
  #compacted: Revision = 0
  readonly #leases = new Map<bigint, Lease>()
  readonly #leaseOf = new Map<Key, bigint>()
  /**
   * Revisions at which lists are being read. The versions that they need are retained until the
   * lists are complete.
   */
  readonly #read: Revision[] = []
  #counts = new PageCounts()
  #isSweeping = false
  #restores = 0
  /**
   * Whether compacted versions must be searched and freed again, because some of them had to be
   * retained for a list in progress.
   */
  #isSweepDue = false

  constructor(time: SlicesTime, onCommit: (commit: Commit) => void) {
    this.#time = time
    this.#onCommit = onCommit
  }

  get revision(): Revision {
    return this.#revision
  }

  /** The oldest revision that can be read, or 0 before the first compaction. */
  get compacted(): Revision {
    return this.#compacted
  }

  get keys(): number {
    return this.#histories.size
  }

  get historyBytes(): number {
    return this.#historyBytes
  }

  /** Returns the keys with a prefix, in order. */
  keysIn(prefix: string): Key[] {
    const keys: Key[] = []
    for (const [key, history] of this.#histories.entries(prefix)) {
      if (!key.startsWith(prefix)) break
      if (history.at(this.#revision) !== undefined) keys.push(key)
    }
    return keys
  }

  /**
   * Reads the state at one revision, in slices. Writes can happen in the meantime, because versions
   * are immutable.
   */
  async range(query: RangeQuery): Promise<RangeResult> {
    const { from, to, limit = 0 } = query
    const revision = this.#readable(query.revision)
    const isPage = limit > 0 && query.countOnly !== true
    const counts = this.#counts
    const known = isPage ? counts.find(revision, from, to) : undefined
    const slices = new Slices(this.#time)
    const values: VersionedValue[] = []
    let count = 0
    this.#read.push(revision)
    try {
      for (let next: Key | undefined = from; next !== undefined; ) {
        const start: Key = next
        next = undefined
        for (const [key, history] of this.#histories.entries(start)) {
          if (key >= to) break
          const found = history.at(revision)
          if (found !== undefined) {
            if (known !== undefined && values.length === limit) {
              count = known
              break
            }
            count++
            if (query.countOnly !== true && (limit === 0 || values.length < limit))
              values.push(query.keysOnly === true ? { ...found, value: nothing } : found)
          }
          if (!slices.isOver) continue
          next = keyAfter(key)
          break
        }
        if (next !== undefined) await slices.turn()
      }
    } finally {
      this.#read.splice(this.#read.indexOf(revision), 1)
      if (this.#isSweepDue && this.#read.length === 0) this.#startSweep()
    }
    const more = isPage && count > limit
    const last = values.at(-1)
    if (more && last !== undefined) counts.keep(revision, keyAfter(last.key), to, count - limit)
    return { revision: query.revision ?? revision, values, more, count }
  }

  /**
   * Returns the value of a key at a revision, which is the latest one by default. Returns undefined
   * if the key did not exist then or the revision has been compacted.
   */
  get(key: Key, revision: Revision = this.#revision): VersionedValue | undefined {
    return revision < this.#compacted ? undefined : this.#histories.get(key)?.at(revision)
  }

  change({ key, expected, unchanged = [], write }: ConditionalWrite): Outcome {
    const isPut = write !== 'delete'
    checkRequestSize(key, isPut ? write.put.length : 0)
    const current = this.get(key)
    const hasRevision = (other: KeyRevision): boolean =>
      (this.get(other.key)?.revision ?? 0) === other.revision
    if ((current?.revision ?? 0) !== expected || !unchanged.every(hasRevision))
      return { won: false, revision: this.#revision, current }
    if (!isPut) {
      if (current !== undefined) this.#delete([key])
      return { won: true, revision: this.#revision }
    }
    const { lease } = write
    if (lease !== undefined && lease !== 0n && !this.#leases.has(lease)) throw leaseNotFound()
    // Copy the value, because the caller may reuse its buffer.
    this.#put(key, Buffer.from(write.put), { current, lease })
    return { won: true, revision: this.#revision }
  }

  grant(id: bigint, ttlSeconds: number): void {
    this.#leases.set(id, { ttlSeconds, keys: new Set() })
  }

  *leases(): Generator<{ readonly id: bigint; readonly ttlSeconds: number }> {
    for (const [id, { ttlSeconds }] of this.#leases) yield { id, ttlSeconds }
  }

  /** Ends a lease and deletes all keys attached to it, in one revision. */
  revoke(id: bigint): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) throw leaseNotFound()
    this.#leases.delete(id)
    if (lease.keys.size > 0) this.#delete([...lease.keys].toSorted(byBytes))
  }

  /** Makes all older revisions unreadable. Their memory is freed in slices. */
  compact(revision: Revision): void {
    if (revision <= this.#compacted) throw compacted()
    if (revision > this.#revision) throw tooNew()
    this.#compacted = revision
    while ((this.#commits.at(0)?.revision ?? revision + 1) <= revision) {
      this.#historyBytes -= this.#commits.shift()?.historyBytes ?? 0
    }
    this.#startSweep()
  }

  /**
   * Returns the first commits after a revision, or undefined if that revision has been compacted.
   * An event feed on etcd (etcd-feed-stream.ts) loses its history in the same case. Its watches
   * start at the last known revision, although etcd still has the events of the revision to which
   * it compacted.
   */
  commitsAfter({
    after: revision,
    most,
    previous,
  }: Omit<CommitsQuery, 'from' | 'to'>): readonly KeptCommit[] | undefined {
    if (revision < this.#compacted) return undefined
    const commits: KeptCommit[] = []
    const first = (this.#commits.at(0)?.revision ?? this.#revision + 1) - 1
    // Commits have consecutive revisions.
    for (let i = Math.max(0, revision - first); commits.length < most; i++) {
      const commit = this.#commits.at(i)
      if (commit === undefined) break
      commits.push(
        previous
          ? { ...commit, events: commit.events.map((event) => this.#withPrevious(event)) }
          : commit,
      )
    }
    return commits
  }

  snapshot(): Snapshot {
    const query = { after: this.#compacted, most: Number.POSITIVE_INFINITY, previous: false }
    const commits = this.commitsAfter(query) ?? []
    return { ...this.#share(), compacted: this.#compacted, commits }
  }

  /**
   * Returns the current state as a backup without history. The time does not depend on the number
   * of objects.
   */
  currentSnapshot(): Snapshot {
    return { ...this.#share(), compacted: this.#revision, commits: [] }
  }

  #share(): Pick<Snapshot, 'revision' | 'histories' | 'leases'> {
    this.#owner = {}
    const leases = [...this.#leases].map(([id, { ttlSeconds, keys }]) => ({
      id,
      ttlSeconds,
      keys: [...keys],
    }))
    return { revision: this.#revision, histories: this.#histories.clone(), leases }
  }

  /**
   * Replaces the database with the snapshot. Later revisions are assigned again, to other changes.
   */
  restore(snapshot: Snapshot): void {
    this.#restores++
    this.#revision = snapshot.revision
    this.#compacted = snapshot.compacted
    this.#owner = {}
    this.#histories = snapshot.histories.clone()
    this.#counts = new PageCounts()
    this.#commits = new Deque()
    this.#historyBytes = 0
    for (const commit of snapshot.commits) {
      this.#commits.push(commit)
      this.#historyBytes += commit.historyBytes
    }
    this.#leases.clear()
    this.#leaseOf.clear()
    for (const { id, ttlSeconds, keys } of snapshot.leases) {
      this.#leases.set(id, { ttlSeconds, keys: new Set(keys) })
      for (const key of keys) this.#leaseOf.set(key, id)
    }
  }

  /**
   * Writes until the state equals that of the snapshot, except for keys that `isKept` accepts.
   * Revisions continue: each change gets its own, and event feeds receive it like any other change.
   * A client that follows the database needs no special handling.
   *
   * Runs in one tick of the event loop, because no read or write may see a state in between. The
   * method is therefore suitable only for small clusters: it takes about 3 ms for 1,000 changed
   * objects, and 0.3 ms for 1,000 other objects. Only tests and simulations call it.
   */
  rewind({ histories, revision, leases }: Snapshot, { isKept, isSameObject }: RewindOptions): void {
    const leaseOf = new Map(leases.flatMap(({ id, keys }) => keys.map((key) => [key, id] as const)))
    const wanted = histories.entries()
    const present = this.#histories.clone().entries()
    let [one, other] = [wanted.next(), present.next()]
    while (!one.done || !other.done) {
      const order = one.done ? 1 : other.done ? -1 : byBytes(one.value[0], other.value[0])
      const [key, history] = (order <= 0 ? one.value : other.value) ?? []
      assert(key !== undefined && history !== undefined, 'one of them has not ended')
      const isSame = order === 0 && one.value?.[1] === other.value?.[1]
      if (!isSame && !isKept(key)) {
        const value = order <= 0 ? one.value?.[1].at(revision) : undefined
        this.#rewindKey(key, value, { lease: leaseOf.get(key), isSameObject })
      }
      if (order <= 0) one = wanted.next()
      if (order >= 0) other = present.next()
    }
  }

  #rewindKey(
    key: Key,
    wanted: VersionedValue | undefined,
    { lease, isSameObject }: RewindKeyOptions,
  ): void {
    const current = this.get(key)
    if (wanted !== undefined && current?.value.equals(wanted.value) === true) return
    const isSame =
      wanted !== undefined &&
      current !== undefined &&
      (isSameObject(current.value, wanted.value) ??
        current.createRevision === wanted.createRevision)
    // An object must not be updated to another object with the same name, so the old one is deleted
    // first.
    if (current !== undefined && !isSame) this.#delete([key])
    if (wanted !== undefined)
      this.#put(key, wanted.value, { current: isSame ? current : undefined, lease })
  }

  /** Adds the previous value. It may have been compacted even if the event has not. */
  #withPrevious(event: FeedEvent): FeedEvent {
    if (event.type === 'put' && event.createRevision === event.revision) return event
    const previous = this.get(event.key, event.revision - 1)
    return previous === undefined ? event : { ...event, previous }
  }

  #readable(revision: Revision | undefined): Revision {
    if (revision === undefined || revision <= 0) return this.#revision
    if (revision > this.#revision) throw tooNew()
    if (revision < this.#compacted) throw compacted()
    return revision
  }

  #put(
    key: Key,
    value: Buffer,
    { current, lease }: { current: VersionedValue | undefined; lease: bigint | undefined },
  ): void {
    this.#attach(key, lease)
    const revision = this.#revision + 1
    const version = { revision, createRevision: current?.createRevision ?? revision, value }
    this.#historyOf(key).add(version)
    this.#commit([{ key, type: 'put', ...version }], current?.value.length ?? 0)
  }

  #delete(keys: readonly Key[]): void {
    const revision = this.#revision + 1
    let replacedBytes = 0
    for (const key of keys) {
      replacedBytes += this.get(key)?.value.length ?? 0
      this.#attach(key, undefined)
      this.#historyOf(key).add({ revision, createRevision: 0, value: undefined })
    }
    this.#commit(
      keys.map((key) => ({ key, type: 'delete', revision, createRevision: 0, value: nothing })),
      replacedBytes,
    )
  }

  /**
   * Adds a commit to the history. `replacedBytes` is the size of the values that were current
   * before this commit.
   */
  #commit(events: readonly FeedEvent[], replacedBytes: number): void {
    const historyBytes = events.length * COMMIT_BYTES + replacedBytes
    const commit = { revision: ++this.#revision, events, historyBytes }
    this.#commits.push(commit)
    this.#historyBytes += historyBytes
    this.#onCommit(commit)
    if (this.#historyBytes > HISTORY_BYTES_MAX) this.#compactHalf()
  }

  /** Compact half of the history at once, because freeing compacted versions visits every key. */
  #compactHalf(): void {
    let left = this.#historyBytes
    let revision = this.#compacted
    for (let i = 0; left > HISTORY_BYTES_MAX / 2; i++) {
      const commit = this.#commits.at(i)
      if (commit === undefined) break
      left -= commit.historyBytes
      revision = commit.revision
    }
    this.compact(revision)
  }

  #attach(key: Key, lease: bigint | undefined): void {
    const before = this.#leaseOf.get(key)
    if (before !== undefined) this.#leases.get(before)?.keys.delete(key)
    if (lease === undefined || lease === 0n) this.#leaseOf.delete(key)
    else {
      this.#leaseOf.set(key, lease)
      this.#leases.get(lease)?.keys.add(key)
    }
  }

  #historyOf(key: Key): KeyHistory {
    const known = this.#histories.get(key)
    if (known?.owner === this.#owner) return known
    const history = new KeyHistory(key, this.#owner, known?.versions)
    this.#histories.set(key, history)
    return history
  }

  #startSweep(): void {
    if (!this.#isSweeping) void this.#sweep()
  }

  /**
   * Frees compacted versions. Starts again if there was another compaction or a restore in the
   * meantime, because other versions must then be retained.
   */
  async #sweep(): Promise<void> {
    this.#isSweeping = true
    const slices = new Slices(this.#time)
    let aim: Revision
    let restores: number
    do {
      aim = this.#compacted
      restores = this.#restores
      // Bounded: only a few lists are read at the same time, so `#read` is short
      const floor = Math.min(aim, ...this.#read)
      this.#isSweepDue = floor < aim
      for (let next = this.#sweepSlice('', floor, slices); next !== undefined; ) {
        await slices.turn()
        next = restores === this.#restores ? this.#sweepSlice(next, floor, slices) : undefined
      }
    } while (aim !== this.#compacted || restores !== this.#restores)
    this.#isSweeping = false
  }

  /**
   * Frees the compacted versions of one slice. Returns the key to continue from, or undefined at
   * the end.
   */
  #sweepSlice(from: Key, floor: Revision, slices: Slices): Key | undefined {
    const empty: Key[] = []
    const copied: KeyHistory[] = []
    let last: Key | undefined
    for (const [key, history] of this.#histories.entries(from)) {
      const left = history.compacted(floor, this.#owner)
      if (left === undefined) empty.push(key)
      else if (left !== history) copied.push(left)
      if (!slices.isOver) continue
      last = key
      break
    }
    for (const key of empty) this.#histories.delete(key)
    for (const history of copied) this.#histories.set(history.key, history)
    return last === undefined ? undefined : keyAfter(last)
  }
}
