/**
 * One version of one object. It begins as the bytes that were stored and becomes, when somebody first looks, the bytes that
 * clients see (the wire form); it never holds both. Behind them stand the facts that selectors ask for. The decoded object is kept
 * only while it is in demand. An item never changes its meaning, so all readers share it.
 */
import { isOutdated, type Wire } from '../codec/object.ts'
import type { KubeObject } from '../api/object.ts'
import { assert } from '../lib/assert.ts'
import type { Key, Revision } from '../storage/engine.ts'
import type { Facts } from './facts.ts'
import { Slot } from './slabs.ts'

/** What the cache must know of a resource to read and to print its objects. */
export type ObjectCodec = {
  /** Reads the stored form and the wire form. Fails with a StorageError 'corrupt'. The object has its resourceVersion. */
  readonly decode: (stored: Buffer, key: Key, revision: Revision) => KubeObject
  readonly print: (object: KubeObject) => Wire
  /**
   * The wire form of what was stored just so, without decoding it, and the object with all that selectors ask for. Undefined: it must be
   * decoded.
   */
  readonly settle?: (
    stored: Buffer,
    revision: Revision,
  ) => { readonly wire: Wire; readonly object: KubeObject } | undefined
  /** Absent: nothing is kept beside the bytes, and selectors look at the objects. */
  readonly facts?: Facts
}

/** Where an item keeps its bytes and its decoded object. */
export type ItemHome = {
  readonly codec: ObjectCodec
  /** `facts`: to be kept behind the bytes. */
  readonly put: (item: Item, bytes: Buffer, facts?: Buffer) => void
  readonly view: (item: Item, start?: number, end?: number) => Buffer
  /** Keeps the item's object for a while. */
  readonly keep: (item: Item) => void
}

/** Whether an item is selected. */
export type Matches = {
  (item: Item): boolean
  /** What one look costs; LOOK_BYTES if absent. */
  readonly lookBytes?: number
}

/** A short look at the facts of an object takes as long as to hand out so many bytes: thousands of them are a millisecond. */
export const LOOK_BYTES = 64

const STORED = -1

export class Item extends Slot {
  readonly key: Key
  readonly revision: Revision
  readonly createRevision: Revision
  /** Set while the object is kept decoded; managed by the home. */
  decoded: KubeObject | undefined
  /** Whether the decoded object was used since the home last looked. */
  isInDemand = false
  /** Whether it is stored otherwise than it would be now, which its wire form does not show. */
  isOutdated = false
  readonly #home: ItemHome
  #versionAt = STORED
  #headBytes = 0

  constructor(
    home: ItemHome,
    place: { readonly key: Key; readonly revision: Revision; readonly createRevision: Revision },
  ) {
    super()
    this.#home = home
    this.key = place.key
    this.revision = place.revision
    this.createRevision = place.createRevision
  }

  /** The object. Shared by all readers: copy it, never change it. */
  object(): KubeObject {
    const object = this.peek()
    this.isInDemand = true
    this.keepObject(object)
    return object
  }

  /** The same for who needs it once: it is not kept. */
  peek(): KubeObject {
    return this.decoded ?? this.#decode()
  }

  /** The JSON of the object, with a newline at the end. */
  wire(): Buffer {
    this.#print()
    return this.#home.view(this)
  }

  /** What stands in a list behind the opening brace: no kind, no apiVersion, no newline. */
  listTail(): Buffer {
    this.#print()
    return this.#home.view(this, this.#headBytes, this.length - 1)
  }

  /** How many bytes `listTail` has. */
  get listTailBytes(): number {
    this.#print()
    return this.length - 1 - this.#headBytes
  }

  /** Copies `listTail` to a place that has room for it; cheaper than a view where many are put together. */
  copyListTail(target: Buffer, at: number): number {
    this.#print()
    assert(this.slab !== undefined, 'an item that is printed has bytes')
    return this.slab.bytes.copy(target, at, this.at + this.#headBytes, this.at + this.length - 1)
  }

  /** The wire form in three parts around the digits of its resourceVersion, without the newline. */
  aroundVersion(): { readonly before: Buffer; readonly after: Buffer } {
    const bytes = this.wire()
    const digits = String(this.revision).length
    return { before: bytes.subarray(0, this.#versionAt), after: bytes.subarray(this.#versionAt + digits, -1) }
  }

  /** For the writer of this version: it has the object and has printed it already. */
  setWire(object: KubeObject, wire: Wire): void {
    this.isOutdated = isOutdated(object)
    this.#keepWire(wire, object)
    this.keepObject(object)
  }

  /** For who has printed it for others: the object is not kept. */
  setBytes(object: KubeObject, wire: Wire): void {
    this.#keepWire(wire, object)
  }

  /** For who has the object, and has seen that it may be asked for again. */
  keepObject(object: KubeObject): void {
    if (this.decoded !== undefined) return
    this.decoded = object
    this.#home.keep(this) // which may let go of it again
  }

  /** The form of the facts, which are the tail of the bytes, if there is one. */
  get facts(): Facts | undefined {
    return this.#home.codec.facts
  }

  /** Whether there are facts that can be read. */
  get hasFacts(): boolean {
    const { facts, slab, tailBytes } = this
    return tailBytes > 0 && facts !== undefined && slab !== undefined && facts.knows(slab.bytes, this.at + this.length)
  }

  /** For who had to decode the object in order to select: the next one need not. */
  noteFacts(object: KubeObject): void {
    const facts = this.facts?.encode(object)
    if (facts !== undefined) this.#home.put(this, this.#home.view(this), facts)
  }

  /** A call, not a comparison: settling may have made it true. */
  isPrinted(): boolean {
    return this.#versionAt !== STORED
  }

  /** Makes the wire form if that can be had without decoding; the facts come with it. */
  settle(): void {
    if (this.#versionAt !== STORED) return
    const settled = this.#home.codec.settle?.(this.#home.view(this), this.revision)
    if (settled !== undefined) this.#keepWire(settled.wire, settled.object)
  }

  /** Who only passes the bytes on does not need the object again: it is not kept. */
  #print(): void {
    if (this.#versionAt !== STORED) return
    if (this.decoded === undefined) this.settle()
    if (this.isPrinted()) return
    const object = this.peek()
    this.isOutdated = isOutdated(object)
    this.#keepWire(this.#home.codec.print(object), object)
  }

  #keepWire(wire: Wire, object: KubeObject): void {
    this.#home.put(this, wire.bytes, this.facts?.encode(object))
    this.#headBytes = wire.headBytes
    this.#versionAt = wire.versionAt
  }

  #decode(): KubeObject {
    return this.#home.codec.decode(this.#home.view(this), this.key, this.revision)
  }
}
