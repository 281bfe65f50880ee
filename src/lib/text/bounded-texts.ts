/** Limits the memory for strings that clients send. */
import { createHash } from 'node:crypto'

const KEY_CHARACTERS_MAX = 256

/**
 * Returns a short key for a string, for use in a map. The key is the string itself, or its hash if
 * the string is longer than any real name of a user or controller.
 */
export const boundedKey = (text: string): string =>
  text.length > KEY_CHARACTERS_MAX ? createHash('sha256').update(text).digest('base64') : text

/**
 * A limit for the total length of strings, such as the paths of fields. The path of a field repeats
 * all keys above the field, so paths can be very long. The string that exceeds the limit is still
 * accepted, but later strings are rejected.
 */
export class TextRoom {
  #charactersLeft: number

  constructor(charactersMax: number) {
    this.#charactersLeft = charactersMax
  }

  get isFull(): boolean {
    return this.#charactersLeft <= 0
  }

  take(text: string): void {
    this.#charactersLeft -= text.length
  }
}

/**
 * A list of strings with a limited total length. When the limit is exceeded, further strings are
 * dropped.
 */
export class BoundedTexts {
  readonly #texts: string[] = []
  readonly #room: TextRoom

  constructor(charactersMax: number) {
    this.#room = new TextRoom(charactersMax)
  }

  get all(): readonly string[] {
    return this.#texts
  }

  get isFull(): boolean {
    return this.#room.isFull
  }

  addAll(texts: readonly string[]): void {
    for (const text of texts) this.add(() => text)
  }

  /** Adds a text. `make` is called only if the limit is not reached. */
  add(make: () => string): void {
    if (this.isFull) return
    const text = make()
    this.#room.take(text)
    this.#texts.push(text)
  }
}
