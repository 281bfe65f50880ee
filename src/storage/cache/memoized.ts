/**
 * Values that are computed from a cached object when they are first requested, and retained until
 * an EvictionQueue evicts them.
 */
import { ENTRY_BYTES, type Evictable, type EvictionQueue } from './eviction-queue.ts'
import { type Slabs, Slot } from './slabs.ts'

/**
 * Memoized values that are single Buffers. Their bytes are stored in slabs, which are large buffers
 * for many values.
 */
export class MemoizedBytes<K extends WeakKey> {
  readonly #queue: EvictionQueue
  readonly #slabs: Slabs
  readonly #make: (key: K) => Buffer
  readonly #entries = new WeakMap<K, MemoBytes>()

  constructor({ queue, slabs }: MemoSpace, make: (key: K) => Buffer) {
    this.#queue = queue
    this.#slabs = slabs
    this.#make = make
  }

  of(key: K): Buffer {
    const known = this.#entries.get(key)
    if (known?.slab !== undefined) {
      known.isUsed = true
      return this.#slabs.view(known)
    }
    const bytes = this.#make(key)
    const memo = new MemoBytes(this.#slabs)
    this.#slabs.put(memo, bytes)
    this.#entries.set(key, memo)
    this.#queue.add(memo, bytes.length + ENTRY_BYTES)
    return bytes
  }
}

/**
 * Memory for memoized values: slabs (large buffers for many values), and the queue that evicts
 * values. If each value were a small Buffer, it would be a slice of a 64 KB pool, and would keep
 * the whole pool in memory.
 */
export type MemoSpace = { readonly queue: EvictionQueue; readonly slabs: Slabs }

class MemoBytes extends Slot implements Evictable {
  isUsed = false
  readonly #slabs: Slabs

  constructor(slabs: Slabs) {
    super()
    this.#slabs = slabs
  }

  /**
   * Releases the bytes. A view that a caller still uses keeps the slab (the buffer with the bytes)
   * in memory. The entry must not reference the slab, because the entry exists as long as its
   * object.
   */
  evict(): void {
    this.#slabs.release(this)
    this.slab = undefined
  }
}

/** Memoized values that are not single Buffers. */
export class MemoizedValues<K extends WeakKey, V> {
  readonly #queue: EvictionQueue
  readonly #make: (key: K) => V
  readonly #bytesOf: (value: V) => number
  readonly #entries = new WeakMap<K, Memo<V>>()

  constructor(queue: EvictionQueue, make: (key: K) => V, bytesOf: (value: V) => number) {
    this.#queue = queue
    this.#make = make
    this.#bytesOf = bytesOf
  }

  of(key: K): V {
    const known = this.#entries.get(key)
    if (known?.value !== undefined) {
      known.isUsed = true
      return known.value
    }
    const value = this.#make(key)
    const entry = new Memo(value)
    this.#entries.set(key, entry)
    this.#queue.add(entry, this.#bytesOf(value) + ENTRY_BYTES)
    return value
  }
}

class Memo<V> implements Evictable {
  value: V | undefined
  isUsed = false

  constructor(value: V) {
    this.value = value
  }

  evict(): void {
    this.value = undefined
  }
}
