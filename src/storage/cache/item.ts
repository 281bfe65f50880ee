/**
 * One version of one object. It begins as the stored bytes and becomes, when it is first read, the
 * bytes that clients get (the wire form); it never holds both. The facts for selectors follow the
 * bytes. The decoded object is kept only while it is in demand. The content of an item never
 * changes, so all readers share it.
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

/** What the cache must know about a resource to decode and to print its objects. */
export type ObjectCodec = {
  /**
   * Reads the stored form and the wire form. Fails with a StorageError 'corrupt'. The object has
   * its resourceVersion.
   */
  readonly decode: (stored: Buffer, key: Key, revision: Revision) => KubeObject
  readonly print: (object: KubeObject) => Wire
  /**
   * Makes the wire form of a value that is stored just as clients get it, but for its
   * resourceVersion, and an object with all that selectors ask for, without full decoding.
   * Undefined: it must be decoded.
   */
  readonly settle?: (
    stored: Buffer,
    revision: Revision,
  ) => { readonly wire: Wire; readonly object: KubeObject } | undefined
  /** Absent: there are no facts, and selectors look at the decoded objects. */
  readonly facts?: Facts
}

/** Where an item keeps its bytes and its decoded object. */
export type ItemHome = {
  readonly codec: ObjectCodec
  /** `facts`: to be kept behind the bytes, as their tail. */
  readonly put: (item: Item, bytes: Buffer, facts?: Buffer) => void
  readonly view: (item: Item, start?: number, end?: number) => Buffer
  /** Keeps the item's decoded object for a while. */
  readonly keep: (item: Item) => void
}

/** Whether an item is selected. */
export type Matches = {
  (item: Item): boolean
  /** The cost of one call; LOOK_BYTES if absent. */
  readonly lookBytes?: number
}

/**
 * To match an object's facts takes as long as to send so many bytes: thousands of matches take a
 * millisecond.
 */
export const LOOK_BYTES = 64

const STORED = -1
/** To decode and print more takes more than some milliseconds. */
const LARGE_BYTES = 64 << 10

/** Not a field of the items: there are many, and few are being prepared. */
const preparations = new WeakMap<Item, Promise<void>>()
/** Large objects that are being decoded, for all readers together. */
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
  /** Whether it would be stored differently now, which its wire form does not tell. */
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

  /** The same for a single use: the object is not kept. */
  peek(): KubeObject {
    return this.decoded ?? this.#decode()
  }

  /**
   * The bytes as they were stored; undefined once the wire form has replaced them. Borrowed, as all
   * views are.
   */
  get stored(): Buffer | undefined {
    return this.#versionAt === STORED ? this.#home.view(this) : undefined
  }

  /** The JSON of the object, with a newline at the end. */
  wire(): Buffer {
    this.#print()
    return this.#home.view(this)
  }

  /** The object as it follows the opening brace in a list: without kind, apiVersion and newline. */
  listTail(): Buffer {
    this.#print()
    return this.#home.view(this, this.#headBytes, this.length - 1)
  }

  /** How many bytes `listTail` has. */
  get listTailBytes(): number {
    this.#print()
    return this.length - 1 - this.#headBytes
  }

  /**
   * Copies `listTail` into a buffer that has room for it; cheaper than a view where many are
   * concatenated.
   */
  copyListTail(target: Buffer, at: number): number {
    this.#print()
    assert(this.slab !== undefined, 'an item that is printed has bytes')
    return this.slab.bytes.copy(target, at, this.at + this.#headBytes, this.at + this.length - 1)
  }

  /** The wire form before and after the digits of its resourceVersion, without the newline. */
  aroundVersion(): { readonly before: Buffer; readonly after: Buffer } {
    const bytes = this.wire()
    const digits = String(this.revision).length
    return {
      before: bytes.subarray(0, this.#versionAt),
      after: bytes.subarray(this.#versionAt + digits, -1),
    }
  }

  /** For the writer of this version, which already has the object and its wire form. */
  setWire(object: KubeObject, wire: Wire): void {
    this.isOutdated = isOutdated(object)
    this.#keepWire(wire, object)
    this.keepObject(object)
  }

  /** For a caller that has printed the object for others: the object is not kept. */
  setBytes(object: KubeObject, wire: Wire): void {
    this.#keepWire(wire, object)
  }

  /** For a caller that has decoded the object and expects it to be requested again. */
  keepObject(object: KubeObject): void {
    if (this.decoded !== undefined) return
    this.decoded = object
    this.#home.keep(this)
  }

  /** How to read the facts, which are the tail of the bytes; undefined if the resource has none. */
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

  /** For a selector that had to decode the object: the next one need not. */
  recordFacts(object: KubeObject): void {
    const facts = this.facts?.encode(object)
    if (facts !== undefined) this.#home.put(this, this.#home.view(this), facts)
  }

  /** A method: TypeScript would assume that a comparison still holds after `settle`. */
  isPrinted(): boolean {
    return this.#versionAt !== STORED
  }

  /** Makes the wire form, and with it the facts, if that is possible without decoding. */
  settle(): void {
    if (this.#versionAt !== STORED) return
    const settled = this.#home.codec.settle?.(this.#home.view(this), this.revision)
    if (settled !== undefined) this.#keepWire(settled.wire, settled.object)
  }

  /** Whether it takes several milliseconds to read all of it. */
  get isLarge(): boolean {
    return this.length > LARGE_BYTES
  }

  /** Whether reading the wire form would take long: `prepare` should be called first. */
  get isUnprepared(): boolean {
    return this.#versionAt === STORED && this.isLarge
  }

  /**
   * Makes the wire form before it is read, in parts between which others are served. Calls that
   * come meanwhile wait for the same work.
   */
  async prepare(slices?: Slices): Promise<void> {
    if (this.isPrinted()) return
    // Not by `settle`: JSON.parse cannot be divided.
    const begin = (): Promise<void> => inParts(() => this.#printObject(), slices ?? largeSlices())
    const preparation = preparations.get(this) ?? begin().finally(() => preparations.delete(this))
    preparations.set(this, preparation)
    await preparation
  }

  /** Like `object`, but a large object is decoded in parts between which others are served. */
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

  /** A caller that only sends the bytes does not need the decoded object again: it is not kept. */
  #print(): void {
    if (this.#versionAt !== STORED) return
    if (this.decoded === undefined) this.settle()
    if (!this.isPrinted()) this.#printObject()
  }

  #printObject(): void {
    if (this.#versionAt !== STORED) return
    // The decoded object may be kept or evicted between two parts.
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
   * A request that prints the object replaces its bytes: one that decodes it in parts keeps those
   * that it began with.
   */
  #decode(): KubeObject {
    const bytes = once('bytes of item', () => this.#home.view(this))
    return this.#home.codec.decode(bytes, this.key, this.revision)
  }
}
