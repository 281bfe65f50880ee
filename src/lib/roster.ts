/**
 * Who is present. As a Set, but coming and going allocates nothing: a Set that millions of short-lived objects pass through is
 * built anew all the time, which was a tenth of what a request costs.
 */
type Member = {
  /** Where it stands; managed by the roster, -1 when it is in none. */
  place: number
}

export class Roster<T extends Member> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    if (member.place !== -1) return
    member.place = this.#members.length
    this.#members.push(member)
  }

  has(member: T): boolean {
    return member.place !== -1
  }

  /** False when it was not there. */
  delete(member: T): boolean {
    if (member.place === -1) return false
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[member.place] = last
      last.place = member.place
    }
    member.place = -1
    return true
  }

  /** A copy, so that members may go while it is walked through. */
  members(): readonly T[] {
    return [...this.#members]
  }
}
