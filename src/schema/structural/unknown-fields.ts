/** The paths of fields that nobody knows, for those who want to be told of them. */
import { nameOf, type Trail } from './trail.ts'

/** A long key stands in the path of every field below it: what is beyond this is dropped like the rest, but not told. */
const CHARACTERS_MAX = 1 << 20

export class UnknownFields {
  readonly #paths: string[] = []
  #charactersLeft = CHARACTERS_MAX

  add(trail: Trail, step: string | number): void {
    if (this.#charactersLeft > 0) this.addPath(nameOf(trail.name, step))
  }

  addPath(path: string): void {
    if (this.#charactersLeft <= 0) return
    this.#charactersLeft -= path.length
    this.#paths.push(path)
  }

  sorted(): readonly string[] {
    return this.#paths.toSorted()
  }
}
