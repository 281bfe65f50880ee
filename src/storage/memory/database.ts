/**
 * etcd's rules for versioned keys, in memory: one revision counter for all keys, the history of each key since the last compaction,
 * leases that take their keys with them. Everything happens at once, in the turn of the call; `memory-engine.ts` makes calls of it.
 */
import BTreeModule from 'sorted-btree'
import { Deque } from '../../lib/deque.ts'
import { Slices, type SlicesTime } from '../../lib/slices.ts'
import type { ConditionalWrite, FeedEvent, Found, Key, Outcome, RangeQuery, Revision, Versioned } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { keyAfter } from '../keys.ts'
import { KeyHistory, type KeyVersion } from './key-history.ts'

// The package is CommonJS: its class stands behind `default`, twice.
const BTree = BTreeModule.default

/** etcd's default of --max-request-bytes. */
const REQUEST_BYTES_MAX = 1.5 * 1024 * 1024
/** What etcd's request has around its key, three times over, and its value. */
const REQUEST_BYTES_AROUND = 64

/** All that one revision changed, in the order of keys. */
export type Commit = { readonly revision: Revision; readonly events: readonly FeedEvent[] }

/** A copy of everything, as a backup has it. */
export type Snapshot = {
  readonly revision: Revision
  readonly compacted: Revision
  readonly histories: readonly { readonly key: Key; readonly versions: readonly KeyVersion[] }[]
  readonly commits: readonly Commit[]
  readonly leases: readonly { readonly id: bigint; readonly ttlSeconds: number; readonly keys: readonly Key[] }[]
}

type Lease = { readonly ttlSeconds: number; readonly keys: Set<Key> }

type Histories = InstanceType<typeof BTree<Key, KeyHistory>>

const byBytes = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0)

const nothing = Buffer.alloc(0)

export class MemoryDatabase {
  readonly #time: SlicesTime
  readonly #onCommit: (commit: Commit) => void
  #histories: Histories = new BTree<Key, KeyHistory>(undefined, byBytes)
  /** What happened since the compaction, for feeds that begin in the past. */
  #commits = new Deque<Commit>()
  #revision: Revision = 1
  #compacted: Revision = 0
  readonly #leases = new Map<bigint, Lease>()
  readonly #leaseOf = new Map<Key, bigint>()
  /** Revisions that lists under way read: their versions stay until the lists are done. */
  readonly #read: Revision[] = []
  #isSweeping = false
  /** What a compaction could not drop yet, because of a list. */
  #isSweepDue = false

  constructor(time: SlicesTime, onCommit: (commit: Commit) => void) {
    this.#time = time
    this.#onCommit = onCommit
  }

  get revision(): Revision {
    return this.#revision
  }

  /** The oldest revision that can be read; 0 before the first compaction. */
  get compacted(): Revision {
    return this.#compacted
  }

  get keys(): number {
    return this.#histories.size
  }

  /** The state of one revision, in slices: versions are never changed, so writes may go on meanwhile. */
  async range(query: RangeQuery): Promise<Found> {
    const { from, to, limit = 0 } = query
    const revision = this.#readable(query.revision)
    const slices = new Slices(this.#time)
    const values: Versioned[] = []
    let count = 0
    this.#read.push(revision)
    try {
      for (let next: Key | undefined = from; next !== undefined; ) {
        const start: Key = next
        next = undefined
        for (const [key, history] of this.#histories.entries(start)) {
          if (key >= to) break
          const found = history.at(revision)
          if (found !== undefined && ++count > 0 && query.countOnly !== true && (limit === 0 || values.length < limit))
            values.push(query.keysOnly === true ? { ...found, value: nothing } : found)
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
    const more = query.countOnly !== true && limit > 0 && count > limit
    return { revision: query.revision ?? revision, values, more, count }
  }

  /** One key as it is, or was at a revision that is still kept. */
  get(key: Key, revision: Revision = this.#revision): Versioned | undefined {
    return revision < this.#compacted ? undefined : this.#histories.get(key)?.at(revision)
  }

  change({ key, expected, write }: ConditionalWrite): Outcome {
    const isPut = write !== 'delete'
    const bytes = (isPut ? write.put.length : 0) + 3 * key.length + REQUEST_BYTES_AROUND
    if (bytes > REQUEST_BYTES_MAX) throw new StorageError('too-large', 'etcdserver: request is too large')
    const current = this.get(key)
    if ((current?.revision ?? 0) !== expected) return { won: false, revision: this.#revision, current }
    if (!isPut) {
      if (current !== undefined) this.#delete([key])
      return { won: true, revision: this.#revision }
    }
    const { lease } = write
    if (lease !== undefined && lease !== 0n && !this.#leases.has(lease)) throw leaseNotFound()
    this.#attach(key, lease)
    const revision = this.#revision + 1
    const createRevision = current?.createRevision ?? revision
    // The caller may use its buffer again.
    const version = { revision, createRevision, value: Buffer.from(write.put) }
    this.#historyOf(key).add(version)
    this.#commit([{ key, type: 'put', ...version }])
    return { won: true, revision }
  }

  grant(id: bigint, ttlSeconds: number): void {
    this.#leases.set(id, { ttlSeconds, keys: new Set() })
  }

  *leases(): Generator<{ readonly id: bigint; readonly ttlSeconds: number }> {
    for (const [id, { ttlSeconds }] of this.#leases) yield { id, ttlSeconds }
  }

  /** Ends a lease; all its keys go with one revision. */
  revoke(id: bigint): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) throw leaseNotFound()
    this.#leases.delete(id)
    if (lease.keys.size > 0) this.#delete([...lease.keys].toSorted(byBytes))
  }

  /** From now on nothing older than this revision can be read; memory is given back in slices. */
  compact(revision: Revision): void {
    if (revision <= this.#compacted) throw compacted()
    if (revision > this.#revision) throw tooNew()
    this.#compacted = revision
    while ((this.#commits.at(0)?.revision ?? revision + 1) <= revision) this.#commits.shift()
    this.#startSweep()
  }

  /**
   * The first commits after a revision; undefined if that revision is compacted. So etcd tells it to a feed (etcd-feed.ts), which
   * starts with the revision that it knows, although the commit that was compacted to is still kept.
   */
  commitsAfter(revision: Revision, most: number): readonly Commit[] | undefined {
    if (revision < this.#compacted) return undefined
    const commits: Commit[] = []
    const first = (this.#commits.at(0)?.revision ?? this.#revision + 1) - 1
    // Each commit is of the revision after the one before it.
    for (let i = Math.max(0, revision - first); commits.length < most; i++) {
      const commit = this.#commits.at(i)
      if (commit === undefined) break
      commits.push(commit)
    }
    return commits
  }

  snapshot(): Snapshot {
    const histories = [...this.#histories.values()].map(({ key, versions }) => ({ key, versions: [...versions] }))
    const commits = this.commitsAfter(this.#compacted, Number.POSITIVE_INFINITY) ?? []
    const leases = [...this.#leases].map(([id, { ttlSeconds, keys }]) => ({ id, ttlSeconds, keys: [...keys] }))
    return { revision: this.#revision, compacted: this.#compacted, histories, commits, leases }
  }

  /** Becomes what the snapshot was: its revisions are given out a second time. */
  restore(snapshot: Snapshot): void {
    this.#revision = snapshot.revision
    this.#compacted = snapshot.compacted
    this.#histories = new BTree<Key, KeyHistory>(undefined, byBytes)
    for (const { key, versions } of snapshot.histories) this.#histories.set(key, new KeyHistory(key, versions))
    this.#commits = new Deque()
    for (const commit of snapshot.commits) this.#commits.push(commit)
    this.#leases.clear()
    this.#leaseOf.clear()
    for (const { id, ttlSeconds, keys } of snapshot.leases) {
      this.#leases.set(id, { ttlSeconds, keys: new Set(keys) })
      for (const key of keys) this.#leaseOf.set(key, id)
    }
  }

  #readable(revision: Revision | undefined): Revision {
    if (revision === undefined || revision <= 0) return this.#revision
    if (revision > this.#revision) throw tooNew()
    if (revision < this.#compacted) throw compacted()
    return revision
  }

  #delete(keys: readonly Key[]): void {
    const revision = this.#revision + 1
    for (const key of keys) {
      this.#attach(key, undefined)
      this.#historyOf(key).add({ revision, createRevision: 0, value: undefined })
    }
    this.#commit(keys.map((key) => ({ key, type: 'delete', revision, createRevision: 0, value: nothing })))
  }

  #commit(events: readonly FeedEvent[]): void {
    const commit = { revision: ++this.#revision, events }
    this.#commits.push(commit)
    this.#onCommit(commit)
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
    if (known !== undefined) return known
    const history = new KeyHistory(key)
    this.#histories.set(key, history)
    return history
  }

  #startSweep(): void {
    if (!this.#isSweeping) void this.#sweep()
  }

  /** Again from the start when a further compaction came meanwhile. */
  async #sweep(): Promise<void> {
    this.#isSweeping = true
    const slices = new Slices(this.#time)
    let aim: Revision
    do {
      aim = this.#compacted
      const floor = Math.min(aim, ...this.#read)
      this.#isSweepDue = floor < aim
      for (let next = this.#sweepSlice('', floor, slices); next !== undefined; ) {
        await slices.turn()
        next = this.#sweepSlice(next, floor, slices)
      }
    } while (aim !== this.#compacted)
    this.#isSweeping = false
  }

  /** Where to go on; undefined at the end. */
  #sweepSlice(from: Key, floor: Revision, slices: Slices): Key | undefined {
    const empty: Key[] = []
    let last: Key | undefined
    for (const [key, history] of this.#histories.entries(from)) {
      if (history.compact(floor)) empty.push(key)
      if (!slices.isOver) continue
      last = key
      break
    }
    for (const key of empty) this.#histories.delete(key)
    return last === undefined ? undefined : keyAfter(last)
  }
}

const compacted = (): StorageError =>
  new StorageError('compacted', 'etcdserver: mvcc: required revision has been compacted')

const tooNew = (): StorageError =>
  new StorageError('too-new', 'etcdserver: mvcc: required revision is a future revision')

const leaseNotFound = (): StorageError => new StorageError('missing', 'etcdserver: requested lease not found')
