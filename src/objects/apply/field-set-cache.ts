/**
 * A cache of field sets and of their text in the format FieldsV1. A client usually writes all
 * objects of a kind in the same way, so a few texts occur in most entries of managedFields. Each of
 * them is parsed only once, and all of its entries share the parsed set.
 */
import { type FieldSet, isSameSet } from './field-set.ts'

/** Maximum length of a cached text. Longer texts are rarely shared by several objects. */
export const SHARED_CHARACTERS_MAX = 16 << 10
/**
 * Maximum total length of all cached texts. The parsed sets use about ten times as much memory. If
 * the limit is exceeded, the oldest text is evicted.
 */
const CHARACTERS_MAX = 1 << 20

export class FieldSetCache {
  readonly #sets = new Map<string, FieldSet>()
  readonly #texts = new WeakMap<FieldSet, string>()
  /**
   * Cached sets by a key that equal sets share (`looksOf`). Different sets can also share a key.
   * Then only the last of them is found.
   */
  readonly #alike = new Map<string, FieldSet>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  /**
   * Returns the text of a set, if this set or an equal one is cached. Comparing two sets is much
   * cheaper than printing one.
   */
  text(set: FieldSet): string | undefined {
    const own = this.#texts.get(set)
    if (own !== undefined) return own
    const other = this.#alike.get(looksOf(set))
    return other !== undefined && isSameSet(other, set) ? this.#texts.get(other) : undefined
  }

  /**
   * Stores the text of this set as long as the set is in memory. In contrast to `add`, neither
   * equal sets nor a lookup by text find it.
   */
  record(text: string, set: FieldSet): void {
    if (!this.#sets.has(text)) this.#texts.set(set, text)
  }

  /**
   * Caches a text and its set, so that other objects can share them. Neither the text nor an
   * element of the set may be a substring of a longer string, because V8 would keep the longer
   * string in memory.
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

/**
 * Returns a key that is the same for equal sets and fast to compute. It consists of the top-level
 * fields and the number of fields directly below each of them.
 */
function looksOf({ children }: FieldSet): string {
  let text = ''
  for (const [element, { children: below }] of children) text += `${element} ${below.size} `
  return text
}
