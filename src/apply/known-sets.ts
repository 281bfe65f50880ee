/**
 * Sets of fields and their texts. Programs write objects of a kind in the same way again and again, so that a few texts stand in most
 * entries: each is read once, and its set is shared.
 */
import type { FieldSet } from './field-set.ts'

/** A longer text is hardly ever that of another object too. */
export const SHARED_CHARACTERS_MAX = 16 << 10
/** Of all texts together, whose sets take ten times as much; the oldest is forgotten first. */
const CHARACTERS_MAX = 1 << 20

export class KnownSets {
  readonly #sets = new Map<string, FieldSet>()
  readonly #texts = new WeakMap<FieldSet, string>()
  #characters = 0

  set(text: string): FieldSet | undefined {
    return this.#sets.get(text)
  }

  text(set: FieldSet): string | undefined {
    return this.#texts.get(set)
  }

  /** The text must be how the set is printed, and no part of a larger text, which would stay with it. */
  add(text: string, set: FieldSet): void {
    if (this.#sets.has(text)) return
    this.#texts.set(set, text)
    if (text.length > SHARED_CHARACTERS_MAX) return
    this.#sets.set(text, set)
    this.#characters += text.length
    for (const oldest of this.#sets.keys()) {
      if (this.#characters <= CHARACTERS_MAX) return
      this.#sets.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}
