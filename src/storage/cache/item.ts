/**
 * One version of one object. It begins as the stored bytes. When it is first read, the bytes that
 * clients get (the wire form) replace them; an item never holds both. The facts for selectors
 * follow the bytes. The decoded object is kept only while it is in demand. The content of an item
 * never changes, so all readers share it.
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

/** Decodes and prints the objects of a resource. */
export type ObjectCodec = {
  /**
   * Decodes the stored form or the wire form. The returned object has its resourceVersion. Fails
   * with a StorageError 'corrupt'.
   */
  readonly decode: (stored: Buffer, key: Key, revision: Revision) => KubeObject
  readonly print: (object: KubeObject) => Wire
  /**
   * Makes the wire form of a value without full decoding, if the stored form differs from it only
   * in the resourceVersion. Also returns an object with everything that selectors read. Undefined
   * if the value must be decoded.
   */
  readonly settle?: (
    stored: Buffer,
    revision: Revision,
  ) => { readonly wire: Wire; readonly object: KubeObject } | undefined
  /** Codec of the facts. Absent: there are no facts, and selectors read the decoded objects. */
  readonly facts?: Facts
}

/** Storage for the bytes and the decoded object of an item. */
export type ItemHome = {
  readonly codec: ObjectCodec
  /** Stores the bytes. `facts` are stored behind them, as their tail. */
  readonly put: (item: Item, bytes: Buffer, facts?: Buffer) => void
  readonly view: (item: Item, start?: number, end?: number) => Buffer
  /** Keeps the item's decoded object for a while. */
  readonly keep: (item: Item) => void
}

/** Returns whether an item is selected. */
export type Matches = {
  (item: Item): boolean
  /** Cost of one call, in the unit of LOOK_BYTES, which is the default. */
  readonly lookBytes?: number
}

/**
 * Cost of matching an object's facts, as the number of bytes that could be sent in the same time.
 * Thousands of matches take a millisecond.
 */
export const LOOK_BYTES = 64

const STORED = -1
/** Size above which decoding and printing an object takes more than a few milliseconds. */
const LARGE_BYTES = 64 << 10

/**
 * Preparations in progress. This is not a field of the items, because there are many items and few
 * are being prepared.
 */
const preparations = new WeakMap<Item, Promise<void>>()
/** Large objects that are being decoded. All readers share one decoding. */
const decodings = new WeakMap<Item, Promise<KubeObject>>()

const largeSlices = (): Slices => new Slices(systemTime, { isExpensive: true })

export class Item extends Slot {
  readonly key: Key
  readonly revision: Revision
  readonly createRevision: Revision
  /** Set while the decoded object is kept; the home decides for how long. */
  decoded: KubeObject | undefined
  /** Whether the decoded object was used since DecodedObjects last passed it. */
  isInDemand = false
  /** Whether the object would now be stored differently. The wire form does not show this. */
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

  /** Like `object`, but for a single use: the object is not kept. */
  peek(): KubeObject {
    return this.decoded ?? this.#decode()
  }

  /**
   * The bytes as they were stored. Undefined once the wire form has replaced them. Borrowed, like
   * all views: copy them to keep them.
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
   * Returns the object as it follows the opening brace in a list: without kind, apiVersion and
   * newline.
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
   * Copies `listTail` into a buffer that has room for it. This is cheaper than a view if many are
   * concatenated.
   */
  copyListTail(target: Buffer, at: number): number {
    this.#print()
    assert(this.slab !== undefined, 'an item that is printed has bytes')
    return this.slab.bytes.copy(target, at, this.at + this.#headBytes, this.at + this.length - 1)
  }

  /**
   * Returns the wire form before and after the digits of its resourceVersion, without the newline.
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
   * Sets the wire form and keeps the object. For the writer of this version, which already has
   * both.
   */
  setWire(object: KubeObject, wire: Wire): void {
    this.isOutdated = isOutdated(object)
    this.#keepWire(wire, object)
    this.keepObject(object)
  }

  /**
   * Sets the wire form without keeping the object. For a caller that has printed the object for
   * others.
   */
  setBytes(object: KubeObject, wire: Wire): void {
    this.#keepWire(wire, object)
  }

  /** Keeps the object. For a caller that has decoded it and expects it to be requested again. */
  keepObject(object: KubeObject): void {
    if (this.decoded !== undefined) return
    this.decoded = object
    this.#home.keep(this)
  }

  /** Codec of the facts, which are the tail of the bytes. Undefined if the resource has none. */
  get facts(): Facts | undefined {
    return this.#home.codec.facts
  }

  /** Whether the item has facts that can still be read. */
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
   * Stores the facts of an object that a selector had to decode, so that the next selector need not
   * decode it.
   */
  recordFacts(object: KubeObject): void {
    const facts = this.facts?.encode(object)
    if (facts !== undefined) this.#home.put(this, this.#home.view(this), facts)
  }

  /**
   * Whether the item has its wire form. This is a method, because TypeScript would assume that a
   * property stays the same across a call of `settle`.
   */
  isPrinted(): boolean {
    return this.#versionAt !== STORED
  }

  /** Makes the wire form and the facts, if that is possible without decoding. */
  settle(): void {
    if (this.#versionAt !== STORED) return
    const settled = this.#home.codec.settle?.(this.#home.view(this), this.revision)
    if (settled !== undefined) this.#keepWire(settled.wire, settled.object)
  }

  /** Whether reading all of the object takes several milliseconds. */
  get isLarge(): boolean {
    return this.length > LARGE_BYTES
  }

  /** Whether reading the wire form would take long. If so, `prepare` should be called first. */
  get isUnprepared(): boolean {
    return this.#versionAt === STORED && this.isLarge
  }

  /**
   * Makes the wire form before it is read, in parts between which the event loop does other work.
   * Concurrent calls wait for the same preparation.
   */
  async prepare(slices?: Slices): Promise<void> {
    if (this.isPrinted()) return
    // `settle` is not used here, because JSON.parse cannot be divided.
    const begin = (): Promise<void> => inParts(() => this.#printObject(), slices ?? largeSlices())
    const preparation = preparations.get(this) ?? begin().finally(() => preparations.delete(this))
    preparations.set(this, preparation)
    await preparation
  }

  /**
   * Like `object`, but a large object is decoded in parts between which the event loop does other
   * work.
   */
  async objectInParts(slices?: Slices): Promise<KubeObject> {
    const object = await this.peekInParts(slices)
    this.isInDemand = true
    this.keepObject(object)
    return object
  }

  /** Like `objectInParts`, but for a single use: the object is not kept. */
  async peekInParts(slices?: Slices): Promise<KubeObject> {
    if (this.decoded !== undefined || !this.isLarge) return this.peek()
    const begin = (): Promise<KubeObject> => inParts(() => this.#decode(), slices ?? largeSlices())
    const decoding = decodings.get(this) ?? begin().finally(() => decodings.delete(this))
    decodings.set(this, decoding)
    return decoding
  }

  /**
   * Makes the wire form. The decoded object is not kept, because a caller that only sends the bytes
   * does not need it again.
   */
  #print(): void {
    if (this.#versionAt !== STORED) return
    if (this.decoded === undefined) this.settle()
    if (!this.isPrinted()) this.#printObject()
  }

  #printObject(): void {
    if (this.#versionAt !== STORED) return
    // `once`, because the decoded object may be set or evicted between two parts.
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
   * Decodes the object. A request that prints it meanwhile replaces its bytes, so a decoding in
   * parts keeps the bytes that it began with.
   */
  #decode(): KubeObject {
    const bytes = once('bytes of item', () => this.#home.view(this))
    return this.#home.codec.decode(bytes, this.key, this.revision)
  }
}
