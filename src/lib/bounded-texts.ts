/**
 * Room for texts of so many characters together: a long key stands in the path of everything below it. What fills it is the last
 * text that is taken.
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

/** Texts to be told, as far as there is room for them; what is beyond is left out. */
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

  /** Made only if there is room for it. */
  add(make: () => string): void {
    if (this.isFull) return
    const text = make()
    this.#room.take(text)
    this.#texts.push(text)
  }
}
