/**
 * A cache of field sets and their FieldsV1 texts. A program writes all objects of a kind in the
 * same way, so most entries of managedFields have one of a few texts. Each text is parsed once, and
 * its set is shared by all entries.
 */
import { type FieldSet, isSameSet } from './field-set.ts'

/** Maximum length of a text that is cached. Objects hardly ever share a longer one. */
export const SHARED_CHARACTERS_MAX = 16 << 10
/**
 * Maximum length of all cached texts together. Their sets take ten times as much memory. The oldest
 * text is evicted first.
 */
const CHARACTERS_MAX = 1 << 20

export class FieldSetCache {
  readonly #sets = new Map<string, FieldSet>()
  readonly #texts = new WeakMap<FieldSet, string>()
  /** The set that was added last for each signature (`looksOf`). */
  readonly #alike = new Map<string, FieldSet>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  /**
   * Returns the text of this set, or of an equal one. Comparing two sets is much cheaper than
   * printing one.
   */
  text(set: FieldSet): string | undefined {
    const own = this.#texts.get(set)
    if (own !== undefined) return own
    const other = this.#alike.get(looksOf(set))
    return other !== undefined && isSameSet(other, set) ? this.#texts.get(other) : undefined
  }

  /**
   * Remembers the text of a set for as long as the set is in use. Unlike with `add`, neither is
   * shared.
   */
  record(text: string, set: FieldSet): void {
    if (!this.#sets.has(text)) this.#texts.set(set, text)
  }

  /**
   * Caches a text and its set, which are then shared. Neither the text nor an element of the set
   * may be a slice of a larger string, because the cache would keep that string in memory.
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

/** Returns a signature of a set: its top-level fields, and the number of fields below each. */
function looksOf({ children }: FieldSet): string {
  let text = ''
  for (const [element, { children: below }] of children) text += `${element} ${below.size} `
  return text
}
