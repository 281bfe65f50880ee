/**
 * A cache of field sets and their texts. Programs write objects of a kind in the same way again and
 * again, so most entries have one of a few texts: each is parsed once, and its set is shared.
 */
import { type FieldSet, isSameSet } from './field-set.ts'

/** A longer text is hardly ever shared by objects. */
export const SHARED_CHARACTERS_MAX = 16 << 10
/** Limit of all texts together, whose sets take ten times as much; the oldest is evicted first. */
const CHARACTERS_MAX = 1 << 20

export class FieldSetCache {
  readonly #sets = new Map<string, FieldSet>()
  readonly #texts = new WeakMap<FieldSet, string>()
  /** The last set with each signature (`looksOf`). */
  readonly #alike = new Map<string, FieldSet>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  /**
   * The text of this set, or of an equal one: comparing two sets costs a small part of printing
   * one.
   */
  text(set: FieldSet): string | undefined {
    const own = this.#texts.get(set)
    if (own !== undefined) return own
    const other = this.#alike.get(looksOf(set))
    return other !== undefined && isSameSet(other, set) ? this.#texts.get(other) : undefined
  }

  /** How a set is printed that is in use. */
  record(text: string, set: FieldSet): void {
    if (!this.#sets.has(text)) this.#texts.set(set, text)
  }

  /**
   * The same, to be shared. Neither the text nor an element of the set may be a slice of a larger
   * string, which it would keep in memory.
   */
  add(text: string, set: FieldSet): void {
    if (this.#sets.has(text)) return
    this.#texts.set(set, text)
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

/** A signature: the top-level fields, and the number of fields below each. */
function looksOf({ children }: FieldSet): string {
  let text = ''
  for (const [element, { children: below }] of children) text += `${element} ${below.size} `
  return text
}
