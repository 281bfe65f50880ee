/**
 * What happened to one object, and its encoded watch event (the frame), which all watchers share.
 */
import type { Key, Revision } from '../engine.ts'
import type { Item } from './item.ts'
import { type Evictable, ENTRY_BYTES, type EvictionQueue } from './eviction-queue.ts'

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

export type WatchEvent =
  | ObjectEvent
  /** Everything up to this revision has been seen. */
  | { readonly type: 'BOOKMARK'; readonly revision: Revision; readonly initialEventsEnd: boolean }

/** An event about an object, as a watcher gets it. */
export type ObjectEvent = {
  readonly type: ChangeType
  readonly revision: Revision
  /**
   * The object; for DELETED its last state, which has the revision of the deletion in the frame.
   */
  readonly item: Item
  /** The object before a change. */
  readonly previous?: Item | undefined
  /** Whether other watchers get this same event. */
  readonly isShared: boolean
  /** The event as a line of JSON. */
  frame(): Buffer
}

const opened = { ADDED: head('ADDED'), MODIFIED: head('MODIFIED'), DELETED: head('DELETED') }
const closed = Buffer.from('}\n')

/**
 * An event of the ring. `item` is the state after it, `previous` the state before; at least one of
 * them is set.
 */
export class ObjectChange {
  readonly key: Key
  readonly revision: Revision
  readonly item: Item | undefined
  readonly previous: Item | undefined
  #shown: ObjectEvent[] | undefined

  constructor(change: {
    readonly key: Key
    readonly revision: Revision
    readonly item: Item | undefined
    readonly previous: Item | undefined
  }) {
    this.key = change.key
    this.revision = change.revision
    this.item = change.item
    this.previous = change.previous
  }

  /**
   * The event for a watcher that selected the object before, after, or both; undefined if neither.
   */
  shown(wasSelected: boolean, isSelected: boolean, queue: EvictionQueue): ObjectEvent | undefined {
    const type = isSelected ? (wasSelected ? 'MODIFIED' : 'ADDED') : 'DELETED'
    if (!isSelected && !wasSelected) return undefined
    const known = this.#shown?.find((one) => one.type === type)
    if (known !== undefined) return known
    const item = isSelected ? this.item : this.previous
    if (item === undefined) return undefined
    const shown = new SharedFrame(type, this.revision, item, queue, this.previous)
    this.#shown ??= []
    this.#shown.push(shown)
    return shown
  }
}

/** An object that existed when the watch began. */
export class InitialEvent implements ObjectEvent {
  readonly item: Item

  constructor(item: Item) {
    this.item = item
  }

  get type(): 'ADDED' {
    return 'ADDED'
  }

  get revision(): Revision {
    return this.item.revision
  }

  get isShared(): boolean {
    return false
  }

  frame(): Buffer {
    return Buffer.concat(partsOf('ADDED', this.item.revision, this.item))
  }
}

/**
 * The frames of events that are made anew for each watcher, as those of converted objects are: a
 * watcher that closely follows another finds the frame made. Without this, a hundred watchers hold
 * a hundred copies of what they are being sent.
 */
export class LateFrames {
  readonly #queue: EvictionQueue
  /** A frame has no reference to its item: it would keep the item's slab in memory. */
  readonly #frames = new WeakMap<Item, LateFrame>()

  constructor(queue: EvictionQueue) {
    this.#queue = queue
  }

  shown(type: ChangeType, revision: Revision, item: Item): ObjectEvent {
    return new LazyObjectEvent(this, type, revision, item)
  }

  frameOf({ type, revision, item }: ObjectEvent): Buffer {
    const known = this.#frames.get(item)
    if (known?.bytes !== undefined && known.type === type && known.revision === revision)
      return known.bytes
    const bytes = joined(partsOf(type, revision, item))
    const frame = new LateFrame(type, revision, bytes)
    this.#frames.set(item, frame)
    this.#queue.add(frame, bytes.length + ENTRY_BYTES)
    return bytes
  }
}

/**
 * A class: an object with a closure of its own takes three times the memory, and there is one per
 * watcher and event.
 */
class LazyObjectEvent implements ObjectEvent {
  readonly type: ChangeType
  readonly revision: Revision
  readonly item: Item
  readonly #frames: LateFrames

  constructor(frames: LateFrames, type: ChangeType, revision: Revision, item: Item) {
    this.#frames = frames
    this.type = type
    this.revision = revision
    this.item = item
  }

  get isShared(): boolean {
    return false
  }

  frame(): Buffer {
    return this.#frames.frameOf(this)
  }
}

class LateFrame implements Evictable {
  readonly type: ChangeType
  readonly revision: Revision
  bytes: Buffer | undefined

  constructor(type: ChangeType, revision: Revision, bytes: Buffer) {
    this.type = type
    this.revision = revision
    this.bytes = bytes
  }

  evict(): void {
    this.bytes = undefined
  }
}

class SharedFrame implements ObjectEvent {
  readonly type: ChangeType
  readonly revision: Revision
  readonly item: Item
  readonly previous: Item | undefined
  readonly #queue: EvictionQueue
  #frame: Buffer | undefined

  constructor(
    type: ChangeType,
    revision: Revision,
    item: Item,
    queue: EvictionQueue,
    previous?: Item,
  ) {
    this.previous = previous
    this.#queue = queue
    this.type = type
    this.revision = revision
    this.item = item
  }

  get isShared(): boolean {
    return true
  }

  frame(): Buffer {
    if (this.#frame !== undefined) return this.#frame
    this.#frame = joined(partsOf(this.type, this.revision, this.item))
    this.#queue.add(this, this.#frame.length)
    return this.#frame
  }

  evict(): void {
    this.#frame = undefined
  }
}

/**
 * Longer events are sent without a frame of their own: a client that reads nothing would keep a
 * copy of each.
 */
const LONG_BYTES = 64 * 1024

/**
 * The parts of a frame in JSON, which are views of what the cache has; undefined: the event is not
 * long, and its frame may be shared.
 */
export const partsIfLong = ({
  type,
  revision,
  item,
}: ObjectEvent): readonly Buffer[] | undefined =>
  item.length > LONG_BYTES ? partsOf(type, revision, item) : undefined

function partsOf(type: ChangeType, revision: Revision, item: Item): readonly Buffer[] {
  const begin = opened[type]
  if (revision === item.revision) return [begin, item.wire().subarray(0, -1), closed]
  const { before, after } = item.aroundVersion()
  return [begin, before, Buffer.from(String(revision)), after, closed]
}

/**
 * In memory of its own: a small Buffer is a slice of a pooled one of 64 KB, all of which a kept
 * frame would keep in memory.
 */
function joined(parts: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let used = 0
  for (const part of parts) used += part.copy(bytes, used)
  return bytes
}

function head(type: ChangeType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`)
}
