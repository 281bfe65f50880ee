/** An object that can be a member of one set at a time. */
type IndexedSetMember = {
  /** Managed by the set; -1 if the object is not in one. */
  index: number
}

/**
 * A set of objects that store their own index. Unlike in a Set, adding and deleting allocates
 * nothing. A Set that millions of short-lived objects pass through would be rehashed all the time.
 */
export class IndexedSet<T extends IndexedSetMember> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    if (member.index !== -1) return
    member.index = this.#members.length
    this.#members.push(member)
  }

  has(member: T): boolean {
    return member.index !== -1
  }

  /** Removes a member. Returns false if it was not in the set. */
  delete(member: T): boolean {
    if (member.index === -1) return false
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[member.index] = last
      last.index = member.index
    }
    member.index = -1
    return true
  }

  /** Returns a copy, so that members may be deleted during iteration. */
  members(): readonly T[] {
    return [...this.#members]
  }
}
