/**
 * The local copy of one watcher: a map, empty at first, to which the events are applied. Each event
 * must be consistent with the copy, and revisions must not decrease. At each bookmark, the copy
 * must be the state at that revision.
 */
import type { Change } from '../../support/harness/gateway.ts'
import type { History } from './history.ts'
import { compareState } from './judge.ts'
import { type Item, tagOf } from './model.ts'

export type ReplayEvent =
  /**
   * The item of a DELETED event is the last state of the object. Its revision is that of the
   * deletion.
   */
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly item: Item }
  | { readonly type: 'BOOKMARK'; readonly revision: number }

type Checkpoint = { readonly revision: number; readonly items: readonly Item[] }

/**
 * Maximum number of bookmarks that are compared with the history at the end. For each of them, a
 * copy of the state is stored.
 */
const CHECKPOINTS_MAX = 2_000
/** Maximum number of faults of one watcher. More would not be informative. */
const FAULTS_MAX = 20
/** Number of steps before the first fault that are shown. */
const TRAIL_MAX = 12

export class Replay {
  readonly name: string
  readonly #prefix: string
  readonly #selects: (tag: string) => boolean
  readonly #items = new Map<string, Item>()
  readonly #checkpoints: Checkpoint[] = []
  readonly #faults: string[] = []
  readonly #trail: string[] = []
  #revision = 0
  #events = 0
  #state: 'new' | 'initial' | 'following' = 'new'

  /** Creates a replay. The watcher sees only values for whose tag `selects` returns true. */
  constructor(name: string, prefix: string, selects: (tag: string) => boolean = () => true) {
    this.name = name
    this.#prefix = prefix
    this.#selects = selects
  }

  /** Revision from which to resume. All events up to this revision have been received. */
  get revision(): number {
    return this.#revision
  }

  /** Whether the next watch can continue from the last received revision. */
  get canResume(): boolean {
    return this.#state === 'following'
  }

  get events(): number {
    return this.#events
  }

  /** Restarts with an empty copy, because the watch sends the whole state again. */
  restart(): void {
    this.#items.clear()
    this.#state = 'initial'
  }

  /**
   * Discards the copy, because the changes after its revision were compacted. The next watch starts
   * from the beginning.
   */
  forget(): void {
    this.#state = 'new'
  }

  /** Replaces the copy with the contents of a list. */
  reset(items: readonly Item[], revision: number): void {
    if (revision < this.#revision) this.fault(`listed revision ${revision} after ${this.#revision}`)
    this.#items.clear()
    for (const item of items) this.#items.set(item.key, item)
    this.note(`listed@${revision}`)
    this.#revision = revision
    this.#state = 'following'
  }

  apply(event: ReplayEvent): void {
    this.#events++
    this.note(
      'item' in event
        ? `${event.type} ${event.item.key.slice(this.#prefix.length)}@${event.item.revision}`
        : `BOOKMARK@${event.revision}`,
    )
    const revision = 'item' in event ? event.item.revision : event.revision
    // The events of the initial state arrive in the order of their keys, so their revisions can
    // decrease.
    const isInitial = this.#state === 'initial' && event.type === 'ADDED'
    if (!isInitial && revision < this.#revision)
      this.fault(`${event.type} of revision ${revision} after ${this.#revision}`)
    if (!isInitial) this.#revision = Math.max(this.#revision, revision)
    if (event.type === 'BOOKMARK') this.#checkpoint(revision)
    else if (event.type === 'DELETED') this.#delete(event.item)
    else this.#put(event.type, event.item)
  }

  /**
   * Returns the difference between the copy and the history at a revision, or undefined if they
   * agree.
   */
  differenceAt(history: History, revision = history.revision): string | undefined {
    return compareState([...this.#items.values()], this.#truthAt(history, revision))
  }

  /** Returns all faults. If `isComplete` is set, the watcher must have received all events. */
  judge(history: History, isComplete = true): string[] {
    const faults = [...this.#faults]
    for (const { revision, items } of this.#checkpoints) {
      const difference = compareState(items, this.#truthAt(history, revision))
      if (difference !== undefined) faults.push(`at bookmark ${revision}: ${difference}`)
    }
    const difference = isComplete ? this.differenceAt(history) : undefined
    if (difference !== undefined)
      faults.push(`at the end (revision ${history.revision}): ${difference}`)
    return faults.slice(0, FAULTS_MAX).map((fault) => `watcher ${this.name}: ${fault}`)
  }

  /** Records a step of the watcher, which is shown if a fault follows. */
  note(step: string): void {
    this.#trail.push(step)
    if (this.#trail.length > TRAIL_MAX) this.#trail.shift()
  }

  fault(fault: string): void {
    if (this.#faults.length === 0)
      this.#faults.push(`the steps before its first fault: ${this.#trail.join(', ')}`)
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(fault)
  }

  #truthAt(history: History, revision: number): Change[] {
    const isSeen = (change: Change): boolean => this.#selects(tagOf(change.value) ?? '')
    return history.stateAt(this.#prefix, revision).filter(isSeen)
  }

  #checkpoint(revision: number): void {
    this.#state = 'following'
    if (this.#checkpoints.length < CHECKPOINTS_MAX) {
      this.#checkpoints.push({ revision, items: [...this.#items.values()] })
    }
  }

  #put(type: 'ADDED' | 'MODIFIED', item: Item): void {
    const held = this.#items.get(item.key)
    if ((held === undefined) !== (type === 'ADDED')) {
      this.fault(
        `${type} of ${item.key} at ${item.revision}, which the watcher ${held === undefined ? 'did not have' : 'had'}`,
      )
    }
    if (held !== undefined && held.revision >= item.revision)
      this.fault(`${item.key} at ${item.revision} was sent twice`)
    this.#items.set(item.key, item)
  }

  #delete({ key, tag, revision }: Item): void {
    const held = this.#items.get(key)
    if (held === undefined)
      this.fault(`DELETED of ${key} at ${revision}, which the watcher did not have`)
    else if (held.tag !== tag)
      this.fault(`DELETED of ${key} at ${revision} shows ${tag}, the watcher had ${held.tag}`)
    this.#items.delete(key)
  }
}
