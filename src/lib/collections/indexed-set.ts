/** An object that can be a member of one IndexedSet at a time. */
type IndexedSetMember = {
  /**
   * Index of the object in the IndexedSet that contains it. -1 if the object is not in a set. Only
   * IndexedSet changes this property.
   */
  index: number
}

/**
 * A set of objects that store their own index. Adding and deleting members does not allocate
 * memory. An ordinary Set would be rehashed all the time if millions of short-lived objects were
 * added and deleted.
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

  /** Removes a member. Returns false if the object was not in the set. */
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

  /**
   * Returns a copy of the list of members, so that members can be deleted while a caller iterates
   * over it.
   */
  members(): readonly T[] {
    return [...this.#members]
  }
}
