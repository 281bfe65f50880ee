/**
 * One version of one object. An item first contains the stored bytes. When it is first read, they
 * are replaced by the JSON that clients receive. The labels and selectable fields are appended to
 * the bytes in encoded form (facts.ts), so that selectors need not decode the object. The decoded
 * object is retained only while it is used frequently. The content of an item never changes, so all
 * readers share it.
 */
import { assert } from '../../lib/errors.ts'
import { isOutdated, type Wire } from '../../objects/codec/object.ts'
import type { KubeObject } from '../../api/object.ts'
import { inParts, once } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import type { Key, Revision } from '../engine.ts'
import type { Facts } from './facts.ts'
import { Slot } from './slabs.ts'

/** Decodes and encodes the objects of a resource. */
export type ObjectCodec = {
  /**
   * Decodes the stored form or the JSON for clients. The returned object has its resourceVersion.
   * Throws a StorageError with the code 'corrupt' if the bytes cannot be decoded.
   */
  readonly decode: (stored: Buffer, key: Key, revision: Revision) => KubeObject
  readonly print: (object: KubeObject) => Wire
  /**
   * Creates the JSON for clients from a value without decoding all of it, if the stored form
   * differs only in the resourceVersion. Also returns an object with all fields that selectors
   * read. Returns undefined if the value must be decoded.
   */
  readonly settle?: (
    stored: Buffer,
    revision: Revision,
  ) => { readonly wire: Wire; readonly object: KubeObject } | undefined
  /**
   * Encodes and reads the labels and selectable fields (facts.ts). If undefined, selectors read the
   * decoded objects.
   */
  readonly facts?: Facts
}

/** Stores the bytes of items, and decides how long their decoded objects are retained. */
export type ItemHome = {
  readonly codec: ObjectCodec
  /** Stores the bytes, with `facts` (encoded labels and selectable fields) appended to them. */
  readonly put: (item: Item, bytes: Buffer, facts?: Buffer) => void
  readonly view: (item: Item, start?: number, end?: number) => Buffer
  /** Retains the item's decoded object for a while. */
  readonly keep: (item: Item) => void
}

/** Returns whether a list or a watch selects the item. */
export type Matches = {
  (item: Item): boolean
  /** Cost of one call, in bytes that could be sent in the same time. The default is LOOK_BYTES. */
  readonly lookBytes?: number
}

/**
 * Cost of matching the encoded labels and fields of an object, expressed as the number of bytes
 * that could be sent in the same time. Thousands of matches take a millisecond.
 */
export const LOOK_BYTES = 64

const STORED = -1
/** Size above which it takes more than a few milliseconds to decode and encode an object. */
const LARGE_BYTES = 64 << 10

/**
 * Preparations in progress. They are not stored in the items, because there are many items and only
 * a few preparations.
 */
const preparations = new WeakMap<Item, Promise<void>>()
/** Large objects that are being decoded. All readers share one decoding. */
const decodings = new WeakMap<Item, Promise<KubeObject>>()

const largeSlices = (): Slices => new Slices(systemTime, { isExpensive: true })

export class Item extends Slot {
  readonly key: Key
  readonly revision: Revision
  readonly createRevision: Revision
  /** The decoded object, while it is retained. The `ItemHome` decides how long that is. */
  decoded: KubeObject | undefined
  /** Whether the decoded object was used since DecodedObjects last considered it for eviction. */
  isInDemand = false
  /**
   * Whether the stored form of the object is outdated, so that the next write would change it. This
   * is recorded here, because the JSON for clients does not show it.
   */
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

  /** Returns the object, which all readers share. It must not be changed, only copied. */
  object(): KubeObject {
    const object = this.peek()
    this.isInDemand = true
    this.keepObject(object)
    return object
  }

  /** Like `object`, but for a single use: the decoded object is not retained. */
  peek(): KubeObject {
    return this.decoded ?? this.#decode()
  }

  /**
   * The stored bytes. Undefined after the JSON for clients has replaced them. This is a view, so
   * callers must copy the bytes to retain them.
   */
  get stored(): Buffer | undefined {
    return this.#versionAt === STORED ? this.#home.view(this) : undefined
  }

  /** Returns the JSON of the object, with a newline at the end. */
  wire(): Buffer {
    this.#print()
    return this.#home.view(this)
  }

  /**
   * Returns the part of the JSON that a list contains after the opening brace: without kind,
   * apiVersion and newline.
   */
  listTail(): Buffer {
    this.#print()
    return this.#home.view(this, this.#headBytes, this.length - 1)
  }

  /** Length of `listTail` in bytes. */
  get listTailBytes(): number {
    this.#print()
    return this.length - 1 - this.#headBytes
  }

  /**
   * Copies `listTail` into a buffer, which must have room for it. This is faster than creating a
   * view if many items are concatenated.
   */
  copyListTail(target: Buffer, at: number): number {
    this.#print()
    assert(this.slab !== undefined, 'an item that is printed has bytes')
    return this.slab.bytes.copy(target, at, this.at + this.#headBytes, this.at + this.length - 1)
  }

  /**
   * Returns the parts of the JSON for clients before and after the digits of the resourceVersion,
   * without the newline.
   */
  aroundVersion(): { readonly before: Buffer; readonly after: Buffer } {
    const bytes = this.wire()
    const digits = String(this.revision).length
    return {
      before: bytes.subarray(0, this.#versionAt),
      after: bytes.subarray(this.#versionAt + digits, -1),
    }
  }

  /**
   * Sets the JSON for clients and retains the object. The writer of this version calls this,
   * because it already has both.
   */
  setWire(object: KubeObject, wire: Wire): void {
    this.isOutdated = isOutdated(object)
    this.#keepWire(wire, object)
    this.keepObject(object)
  }

  /**
   * Sets the JSON for clients without retaining the object. Used by callers that have encoded the
   * object for other readers.
   */
  setBytes(object: KubeObject, wire: Wire): void {
    this.#keepWire(wire, object)
  }

  /** Retains the decoded object, because the caller expects that it will be requested again. */
  keepObject(object: KubeObject): void {
    if (this.decoded !== undefined) return
    this.decoded = object
    this.#home.keep(this)
  }

  /**
   * Encodes and reads the labels and selectable fields, which are stored after the object's bytes.
   * Undefined if the resource does not store them in encoded form.
   */
  get facts(): Facts | undefined {
    return this.#home.codec.facts
  }

  /** Whether the item has encoded labels and fields that can still be read (facts.ts). */
  get hasFacts(): boolean {
    const { facts, slab, tailBytes } = this
    return (
      tailBytes > 0 &&
      facts !== undefined &&
      slab !== undefined &&
      facts.knows(slab.bytes, this.at + this.length)
    )
  }

  /**
   * Stores the encoded labels and fields of an object that a selector had to decode, so that the
   * next selector does not need to decode it.
   */
  recordFacts(object: KubeObject): void {
    const facts = this.facts?.encode(object)
    if (facts !== undefined) this.#home.put(this, this.#home.view(this), facts)
  }

  /**
   * Whether the item has its JSON for clients. This is a method, because TypeScript would assume
   * that a property stays the same across a call of `settle`.
   */
  isPrinted(): boolean {
    return this.#versionAt !== STORED
  }

  /**
   * Creates the JSON for clients and the encoded labels and fields, if this is possible without
   * decoding.
   */
  settle(): void {
    if (this.#versionAt !== STORED) return
    const settled = this.#home.codec.settle?.(this.#home.view(this), this.revision)
    if (settled !== undefined) this.#keepWire(settled.wire, settled.object)
  }

  /** Whether it takes several milliseconds to read the whole object. */
  get isLarge(): boolean {
    return this.length > LARGE_BYTES
  }

  /**
   * Whether it would take long to read the JSON for clients. In this case, `prepare` should be
   * called first.
   */
  get isUnprepared(): boolean {
    return this.#versionAt === STORED && this.isLarge
  }

  /**
   * Creates the JSON for clients in parts, so that the event loop can do other work in between.
   * Concurrent calls wait for the same preparation.
   */
  async prepare(slices?: Slices): Promise<void> {
    if (this.isPrinted()) return
    // `settle` is not used here, because it calls JSON.parse, which cannot be divided into parts.
    const begin = (): Promise<void> => inParts(() => this.#printObject(), slices ?? largeSlices())
    const preparation = preparations.get(this) ?? begin().finally(() => preparations.delete(this))
    preparations.set(this, preparation)
    await preparation
  }

  /**
   * Like `object`, but decodes a large object in parts, so that the event loop can do other work in
   * between.
   */
  async objectInParts(slices?: Slices): Promise<KubeObject> {
    const object = await this.peekInParts(slices)
    this.isInDemand = true
    this.keepObject(object)
    return object
  }

  /** Like `objectInParts`, but for a single use: the decoded object is not retained. */
  async peekInParts(slices?: Slices): Promise<KubeObject> {
    if (this.decoded !== undefined || !this.isLarge) return this.peek()
    const begin = (): Promise<KubeObject> => inParts(() => this.#decode(), slices ?? largeSlices())
    const decoding = decodings.get(this) ?? begin().finally(() => decodings.delete(this))
    decodings.set(this, decoding)
    return decoding
  }

  /**
   * Creates the JSON for clients. The decoded object is not retained, because a caller that only
   * sends the bytes does not need it again.
   */
  #print(): void {
    if (this.#versionAt !== STORED) return
    if (this.decoded === undefined) this.settle()
    if (!this.isPrinted()) this.#printObject()
  }

  #printObject(): void {
    if (this.#versionAt !== STORED) return
    // `once` (lib/scheduling/parts.ts) ensures that all parts of the work use the same object.
    // Otherwise, the decoded object could be set or evicted between two parts, and the work would
    // then continue in a different way.
    const object = once('object to print', () => this.peek())
    this.isOutdated = isOutdated(object)
    this.#keepWire(this.#home.codec.print(object), object)
  }

  #keepWire(wire: Wire, object: KubeObject): void {
    this.#home.put(this, wire.bytes, this.facts?.encode(object))
    this.#headBytes = wire.headBytes
    this.#versionAt = wire.versionAt
  }

  /**
   * Decodes the object. If it is decoded in parts, another request can replace the bytes by the
   * JSON for clients in the meantime. Therefore all parts use the bytes from the beginning.
   */
  #decode(): KubeObject {
    const bytes = once('bytes of item', () => this.#home.view(this))
    return this.#home.codec.decode(bytes, this.key, this.revision)
  }
}
