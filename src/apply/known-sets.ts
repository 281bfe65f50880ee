/**
 * Sets of fields and their texts. Programs write objects of a kind in the same way again and again, so that a few texts stand in most
 * entries: each is read once, and its set is shared.
 */
import { type FieldSet, isSameSet } from './field-set.ts'

/** A longer text is hardly ever that of another object too. */
export const SHARED_CHARACTERS_MAX = 16 << 10
/** Of all texts together, whose sets take ten times as much; the oldest is forgotten first. */
const CHARACTERS_MAX = 1 << 20

export class KnownSets {
  readonly #sets = new Map<string, FieldSet>()
  readonly #texts = new WeakMap<FieldSet, string>()
  /** The last of those that look alike. */
  readonly #alike = new Map<string, FieldSet>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  /** Of this set, or of one with the same fields: to compare two takes a small part of what printing one takes. */
  text(set: FieldSet): string | undefined {
    const own = this.#texts.get(set)
    if (own !== undefined) return own
    const other = this.#alike.get(looksOf(set))
    return other !== undefined && isSameSet(other, set) ? this.#texts.get(other) : undefined
  }

  /** The text must be how the set is printed, and no part of a larger text, which would stay with it. */
  add(text: string, set: FieldSet): void {
    if (this.#sets.has(text)) return
    this.#texts.set(set, text)
    if (text.length > SHARED_CHARACTERS_MAX) return
    this.#sets.set(text, set)
    this.#alike.set(looksOf(set), set)
    this.#characters += text.length
    for (const [oldest, forgotten] of this.#sets) {
      if (this.#characters <= CHARACTERS_MAX) return
      this.#sets.delete(oldest)
      const looks = looksOf(forgotten)
      if (this.#alike.get(looks) === forgotten) this.#alike.delete(looks)
      this.#characters -= oldest.length
    }
  }
}

/** The first fields, and how many there are below each. */
function looksOf({ children }: FieldSet): string {
  let text = ''
  for (const [element, { children: below }] of children) text += `${element} ${below.size} `
  return text
}
