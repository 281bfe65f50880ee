/**
 * A cache of field sets and of their text, which is their serialized form (FieldsV1). A client
 * usually writes all objects of a kind in the same way, so most entries of managedFields contain
 * one of a few texts. Each distinct text is parsed once, and all entries that contain it share the
 * parsed set.
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
   * Cached sets, keyed by the result of `looksOf`. If several sets have the same key, only the last
   * one is found.
   */
  readonly #alike = new Map<string, FieldSet>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  /**
   * Returns the text of the given set or of an equal one. Comparing two sets is much cheaper than
   * printing a set.
   */
  text(set: FieldSet): string | undefined {
    const own = this.#texts.get(set)
    if (own !== undefined) return own
    const other = this.#alike.get(looksOf(set))
    return other !== undefined && isSameSet(other, set) ? this.#texts.get(other) : undefined
  }

  /**
   * Stores the text of this set object until the set is garbage collected. Unlike `add`, this does
   * not share the text with equal sets, and does not make the set available to later lookups by
   * text.
   */
  record(text: string, set: FieldSet): void {
    if (!this.#sets.has(text)) this.#texts.set(set, text)
  }

  /**
   * Caches a text and its set, so that they are shared. Neither the text nor an element of the set
   * may be a slice of a larger string. Otherwise the cache would retain that string in memory.
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
 * Returns a key that equal sets share and that is cheap to compute. It consists of the top-level
 * fields and the number of fields directly below each of them.
 */
function looksOf({ children }: FieldSet): string {
  let text = ''
  for (const [element, { children: below }] of children) text += `${element} ${below.size} `
  return text
}
