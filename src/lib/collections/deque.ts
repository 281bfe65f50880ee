/** A double-ended queue that can be indexed. */
export class Deque<T> {
  #slots: (T | undefined)[] = new Array(16)
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#grow()
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value
    this.#length++
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const value = this.#slots[this.#head]
    this.#slots[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#slots.length - 1)
    this.#length--
    return value
  }

  /** Returns the value at this index. 0 is the oldest value. */
  at(index: number): T | undefined {
    return index < 0 || index >= this.#length
      ? undefined
      : this.#slots[(this.#head + index) & (this.#slots.length - 1)]
  }

  clear(): void {
    this.#slots = new Array(16)
    this.#head = 0
    this.#length = 0
  }

  /**
   * The length is always a power of two, so that an index can be wrapped around with a bit mask.
   */
  #grow(): void {
    const slots: (T | undefined)[] = new Array(this.#slots.length * 2)
    for (let i = 0; i < this.#length; i++) slots[i] = this.at(i)
    this.#slots = slots
    this.#head = 0
  }
}
