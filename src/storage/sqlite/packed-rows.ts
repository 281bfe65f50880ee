/**
 * Packs the rows of a message into two buffers, which are transferred without a copy. If rows were
 * sent as objects, each would be cloned into several small objects on the event loop. Their garbage
 * collection would block the event loop for longer than all other work of the store.
 */
import type { Key, Revision } from '../engine.ts'
import type { StoredEvent, StoredVersion } from './stored.ts'

/** Each row has four numbers: revision, create revision, length of the key, length of the value. */
const ROW_NUMBERS = 4
/** Length that represents an absent value. */
const NO_VALUE = -1

/** Position of rows in the buffers of their message. */
export type RowsOffset = {
  readonly count: number
  readonly firstNumber: number
  readonly firstByte: number
}

export type RowBuffers = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly numbers: Float64Array<ArrayBuffer>
}

export class PackedRows {
  /** Alternating keys and values. */
  readonly #parts: (Uint8Array | string)[] = []
  readonly #numbers: number[] = []
  #length = 0

  /** Returns the position at which the next rows will be added. */
  here(): Omit<RowsOffset, 'count'> {
    return { firstNumber: this.#numbers.length, firstByte: this.#length }
  }

  add({ key, revision, created, value }: StoredVersion | StoredEvent): void {
    this.#numbers.push(revision, created, key.length, value === undefined ? NO_VALUE : value.length)
    this.#parts.push(key)
    this.#length += key.length
    if (value === undefined) return
    this.#parts.push(value)
    this.#length += value.length
  }

  /** Adds the previous version, or an empty row if there is none. */
  addPrevious(previous: StoredVersion | undefined): void {
    if (previous !== undefined) this.add(previous)
    else this.#numbers.push(0, 0, 0, NO_VALUE)
  }

  buffers(): RowBuffers {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    let at = 0
    for (const part of this.#parts) {
      if (typeof part === 'string') at += bytes.write(part, at, 'latin1')
      else {
        bytes.set(part, at)
        at += part.length
      }
    }
    return { bytes, numbers: Float64Array.from(this.#numbers) }
  }
}

/**
 * A row as a view of the message. `value` is undefined for a deletion, and if there is no previous
 * version.
 */
export type PackedRow = {
  readonly key: Key
  readonly revision: Revision
  readonly created: Revision
  readonly value: Buffer | undefined
}

/** Reads rows in the order in which they were added. */
export class RowReader {
  readonly #bytes: Buffer
  readonly #numbers: Float64Array
  #number: number
  #byte: number

  constructor(
    { bytes, numbers }: RowBuffers,
    { firstNumber, firstByte }: Omit<RowsOffset, 'count'>,
  ) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#numbers = numbers
    this.#number = firstNumber
    this.#byte = firstByte
  }

  next(): PackedRow {
    const [at, start] = [this.#number, this.#byte]
    this.#number += ROW_NUMBERS
    const keyEnd = start + this.#at(at + 2)
    const length = this.#at(at + 3)
    this.#byte = keyEnd + Math.max(0, length)
    return {
      key: this.#bytes.toString('latin1', start, keyEnd),
      revision: this.#at(at),
      created: this.#at(at + 1),
      value: length === NO_VALUE ? undefined : this.#bytes.subarray(keyEnd, this.#byte),
    }
  }

  #at(index: number): number {
    return this.#numbers[index] ?? 0
  }
}
