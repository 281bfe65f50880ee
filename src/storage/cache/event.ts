/**
 * A change of one object, and its encoded watch event. All watchers share the encoded event, which
 * is called a frame.
 */
import type { Key, Revision } from '../engine.ts'
import type { Item } from './item.ts'
import { type Evictable, ENTRY_BYTES, type EvictionQueue } from './eviction-queue.ts'

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

export type WatchEvent =
  | ObjectEvent
  /** A bookmark: reports that the watcher has received all events up to this revision. */
  | { readonly type: 'BOOKMARK'; readonly revision: Revision; readonly initialEventsEnd: boolean }

/** An event about an object, as a watcher receives it. */
export type ObjectEvent = {
  readonly type: ChangeType
  readonly revision: Revision
  /**
   * The object. For DELETED it is the last state. The encoded event contains this state with the
   * revision of the deletion.
   */
  readonly item: Item
  /** The state of the object before the change. */
  readonly previous?: Item | undefined
  /** Whether the event is shared with other watchers, which then also share its frame. */
  readonly isShared: boolean
  /** Returns the event as a line of JSON. */
  frame(): Buffer
}

const opened = { ADDED: head('ADDED'), MODIFIED: head('MODIFIED'), DELETED: head('DELETED') }
const closed = Buffer.from('}\n')

/**
 * A change in the event ring. `item` is the state after the change and `previous` the state before
 * it. At least one of them is defined.
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
   * Returns the event for a watcher. The arguments state whether the watcher selects the object
   * before and after the change. Returns undefined if it selects neither state.
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

/** Returns the ADDED event of an object that existed when the watch began. */
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
 * Caches frames that are created separately for each watcher, such as those of converted objects. A
 * watcher that is only slightly behind another one reuses its frame. Otherwise a hundred watchers
 * would each have a copy of the frames in memory.
 */
export class LateFrames {
  readonly #queue: EvictionQueue
  /**
   * A cached frame must not reference its item, because this reference would keep the item's whole
   * slab in memory, which is a large buffer for many objects.
   */
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
 * An event whose frame is encoded when it is first requested. This is a class, because there is one
 * instance per watcher and event. An object with its own closure would take three times the memory.
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
 * Maximum length of an event that is sent as a single buffer. Longer events are sent in parts,
 * because otherwise each client that stops reading would keep a copy in memory.
 */
const LONG_BYTES = 64 * 1024

/**
 * Returns the parts of the JSON of a long event, as views of the cached bytes. Returns undefined if
 * the event is short enough for a shared frame.
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
 * Concatenates the parts in memory outside Node's buffer pool. A small Buffer would be a slice of a
 * 64 KB pool, and a cached frame would keep the whole pool in memory.
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
