/** Texts to be told, up to so many characters together: a long key stands in the path of everything below it. What is beyond is left out. */
export class BoundedTexts {
  readonly #texts: string[] = []
  #charactersLeft: number

  constructor(charactersMax: number) {
    this.#charactersLeft = charactersMax
  }

  get all(): readonly string[] {
    return this.#texts
  }

  get isFull(): boolean {
    return this.#charactersLeft <= 0
  }

  /** Made only if there is room for it. */
  add(make: () => string): void {
    if (this.isFull) return
    const text = make()
    this.#charactersLeft -= text.length
    this.#texts.push(text)
  }
}
