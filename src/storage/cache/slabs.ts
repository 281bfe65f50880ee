/**
 * Packs the bytes of cached objects into large buffers, which are called slabs. Slices of received
 * chunks would keep whole chunks in memory, and one Buffer per object would take twice the size of
 * the object. After many changes, pooled Buffers take 3.9 times the stored bytes, and slabs 1.3
 * times.
 *
 * A slab is append-only. When too little of it is still in use, the bytes in use are copied out.
 * The slab is then left to the garbage collector, which frees it once no reader holds a view of it.
 * Reference counting is therefore not necessary.
 */
import { assert } from '../../lib/errors.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'

const SLAB_BYTES = 1 << 20
/**
 * Share of a slab (a large buffer for many objects) that must be in use. If less is in use, the
 * bytes in use are moved to other slabs. With this value and random updates, slabs are 90 % full on
 * average, and four bytes are copied for each byte that is freed.
 */
const KEPT_SHARE = 0.8
const KEPT_BYTES = Math.floor(SLAB_BYTES * KEPT_SHARE)
/**
 * Size above which an object gets its own slab (buffer), because moving the object to a shared slab
 * would save little memory.
 */
const SHARED_BYTES_MAX = SLAB_BYTES >> 3
/** Number of slots (locations of objects) that are released between two checks of the clock. */
const SLOTS_AT_ONCE = 64

type Slab = {
  readonly bytes: Buffer
  /**
   * Whether this slab (buffer) belongs to an item that is not stored in the cache. Such slabs are
   * not counted.
   */
  readonly isLoose: boolean
  used: number
  live: number
  /**
   * The slots (locations of objects) that were placed in this slab. Some of them may have been
   * moved or released.
   */
  readonly holders: Slot[]
}

/**
 * The location of one object's bytes in a slab (large buffer). The location changes when the bytes
 * are moved to another slab, but the bytes do not.
 */
export class Slot {
  slab: Slab | undefined
  at = 0
  length = 0
  /**
   * Length of the tail (the encoded labels and fields), which follows the bytes of the object and
   * is moved with them.
   */
  tailBytes = 0
  isReleased = false
}

export class Slabs {
  #current: Slab = newSlab(SLAB_BYTES)
  readonly #time: SlicesTime
  /**
   * Lists of slots (locations of objects) that wait to be released, and the number of lists that
   * are not completely released yet.
   */
  readonly #waiting: Iterable<Slot | undefined>[] = []
  #unreleased = 0
  #isRunning = false
  #slabBytes = SLAB_BYTES
  #liveBytes = 0

  constructor(time: SlicesTime = systemTime) {
    this.#time = time
  }

  /**
   * Copies the bytes into a slab (large buffer), and stores their location in the slot. Releases
   * the previous bytes of the slot. If the slot was released, the bytes are stored outside of the
   * slabs.
   */
  put(slot: Slot, bytes: Buffer, tail: Buffer = nothing): void {
    if (slot.isReleased || slot.slab?.isLoose) {
      this.putLoose(slot, bytes, tail)
      return
    }
    this.release(slot)
    slot.isReleased = false
    slot.length = bytes.length
    slot.tailBytes = tail.length
    const slab = this.#place(slot)
    bytes.copy(slab.bytes, slot.at)
    tail.copy(slab.bytes, slot.at + bytes.length)
    this.#liveBytes += sizeOf(slot)
  }

  /**
   * Copies the bytes into separate memory instead of a slab (shared buffer), for bytes that only
   * one reader uses.
   */
  putLoose(slot: Slot, bytes: Buffer, tail: Buffer = nothing): void {
    slot.slab = { ...newSlab(bytes.length + tail.length), isLoose: true }
    slot.at = 0
    slot.length = bytes.copy(slot.slab.bytes)
    slot.tailBytes = tail.copy(slot.slab.bytes, slot.length)
  }

  /**
   * Returns the bytes of a slot (location of an object), or a part of them. The returned view is
   * valid for as long as it is referenced.
   */
  view(slot: Slot, start = 0, end = slot.length): Buffer {
    assert(slot.slab !== undefined, 'a slot that is read has bytes')
    return slot.slab.bytes.subarray(slot.at + start, slot.at + end)
  }

  /**
   * Records that the bytes of a slot (location of an object) are no longer needed. A reader that
   * still has the slot, such as a list in progress, can continue to read its bytes.
   */
  release(slot: Slot): void {
    const slab = this.#free(slot)
    if (slab !== undefined) this.#copyOutIfWorth(slab)
  }

  /**
   * Releases slots (locations of objects) in slices of time. A few slots are released immediately,
   * as by `release`. Bytes are moved to other slabs only afterwards, so that no bytes are moved
   * that are also about to be released.
   */
  releaseAll(slots: Iterable<Slot | undefined>): void {
    this.#waiting.push(slots)
    this.#unreleased++
    if (!this.#isRunning) void this.#releaseWaiting()
  }

  /** Whether the memory of objects is still being released, so that `size` is about to decrease. */
  get isReleasing(): boolean {
    return this.#unreleased > 0
  }

  /**
   * Number of bytes that objects use, and number of bytes of the slabs (buffers) that contain them.
   */
  get size(): { readonly liveBytes: number; readonly slabBytes: number } {
    return { liveBytes: this.#liveBytes, slabBytes: this.#slabBytes }
  }

  /**
   * Marks a slot (location of an object) as released, and returns its slab. Returns undefined if
   * the slot has no bytes to release.
   */
  #free(slot: Slot): Slab | undefined {
    const { slab } = slot
    if (slab === undefined || slab.isLoose || slot.isReleased) return undefined
    slot.isReleased = true
    slab.live -= sizeOf(slot)
    this.#liveBytes -= sizeOf(slot)
    return slab
  }

  async #releaseWaiting(): Promise<void> {
    this.#isRunning = true
    const slices = new Slices(this.#time, { isShared: true })
    const freed = new Set<Slab>()
    while (this.#waiting.length > 0) {
      let looks = 0
      for (const slot of this.#waiting.shift() ?? []) {
        const slab = slot && this.#free(slot)
        if (slab !== undefined) freed.add(slab)
        if (++looks % SLOTS_AT_ONCE === 0 && slices.isOver) await slices.turn()
      }
      this.#unreleased--
      // Wait for the next slice, because more slots may be released in the same tick.
      if (this.#waiting.length === 0) await slices.turn()
    }
    for (const slab of freed) {
      this.#copyOutIfWorth(slab)
      if (slices.isOver) await slices.turn()
    }
    this.#isRunning = false
    if (this.#waiting.length > 0) void this.#releaseWaiting()
  }

  #copyOutIfWorth(slab: Slab): void {
    if (slab !== this.#current && slab.live < Math.min(KEPT_BYTES, slab.bytes.length))
      this.#copyOut(slab)
  }

  /** Allocates room for the bytes of an object, and for its tail (encoded labels and fields). */
  #place(slot: Slot): Slab {
    const size = sizeOf(slot)
    const slab = this.#room(size)
    slot.slab = slab
    slot.at = slab.used
    slab.used += size
    slab.live += size
    slab.holders.push(slot)
    return slab
  }

  #room(length: number): Slab {
    if (length > SHARED_BYTES_MAX) {
      this.#slabBytes += length
      return newSlab(length)
    }
    if (this.#current.used + length > SLAB_BYTES) {
      const full = this.#current
      this.#current = newSlab(SLAB_BYTES)
      this.#slabBytes += SLAB_BYTES
      if (full.live < KEPT_BYTES) this.#copyOut(full)
    }
    return this.#current
  }

  /**
   * Moves the bytes that are still in use to other slabs, which takes about a tenth of a
   * millisecond.
   */
  #copyOut(slab: Slab): void {
    this.#slabBytes -= slab.bytes.length
    for (const slot of slab.holders) {
      if (slot.slab !== slab || slot.isReleased) continue
      const { at } = slot
      slab.bytes.copy(this.#place(slot).bytes, slot.at, at, at + sizeOf(slot))
    }
    slab.holders.length = 0
    slab.live = Number.POSITIVE_INFINITY // this prevents another copy of the slab
  }
}

const nothing = Buffer.alloc(0)

const sizeOf = ({ length, tailBytes }: Slot): number => length + tailBytes

function newSlab(length: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(length), isLoose: false, used: 0, live: 0, holders: [] }
}
