/** Values of a message, one behind the other, so that it costs one copy. */
import type { EventRow, Place, Row } from './messages.ts'
import type { StoredEvent, StoredVersion } from './stored.ts'

export class PackedValues {
  readonly #parts: Uint8Array[] = []
  #length = 0

  rowOf({ key, revision, created, value }: StoredVersion): Row {
    return { key, revision, created, value: this.#add(value) }
  }

  eventRowOf({ key, revision, created, value, previous }: StoredEvent): EventRow {
    const place = value && this.#add(value)
    return { key, revision, created, value: place, previous: previous && this.rowOf(previous) }
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  #add(value: Uint8Array): Place {
    const start = this.#length
    this.#parts.push(value)
    this.#length += value.length
    return { start, end: this.#length }
  }
}
