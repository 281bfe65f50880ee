/**
 * Splits a stream of received chunks into gRPC messages. Usually a whole message is in one chunk,
 * and the message is a view of that chunk. A message spread over several chunks is copied once into
 * a buffer of its announced size, so that a long response costs linear time, not quadratic.
 */
import { GrpcError } from '../errors.ts'

const FRAME_HEAD_BYTES = 5

/**
 * Maximum length of an accepted message. etcd does not split range responses, so a page of large
 * values can be very long. If a page is longer than this maximum, the caller requests a page with
 * fewer values.
 */
export const MESSAGE_BYTES_MAX = 256 * 1024 * 1024

export class MessageFrames {
  readonly #onMessage: (message: Buffer) => void
  readonly #bytesMax: number
  // Bytes of a frame header of which only a part has arrived.
  #head: Buffer | undefined
  // The incomplete message, and how many of its bytes were received.
  #message: Buffer | undefined
  #filled = 0

  /**
   * Each call of `push` synchronously calls `onMessage` for the messages that are then complete. A
   * message may be a view of the chunk. `bytesMax` limits the length of a message.
   */
  constructor(onMessage: (message: Buffer) => void, bytesMax = MESSAGE_BYTES_MAX) {
    this.#onMessage = onMessage
    this.#bytesMax = bytesMax
  }

  /** Whether a message has begun but is incomplete. */
  get isPartial(): boolean {
    return this.#head !== undefined || this.#message !== undefined
  }

  /** Processes the next chunk. Throws a GrpcError if it is not valid gRPC. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#message !== undefined) at = this.#fill(this.#message, chunk, at)
      else if (this.#head !== undefined || chunk.length - at < FRAME_HEAD_BYTES)
        at = this.#fillHead(chunk, at)
      else {
        const length = messageLength(chunk, at, this.#bytesMax)
        const from = at + FRAME_HEAD_BYTES
        if (chunk.length - from >= length) {
          at = from + length
          this.#onMessage(chunk.subarray(from, at))
        } else {
          this.#begin(length)
          at = from
        }
      }
    }
  }

  #fillHead(chunk: Buffer, at: number): number {
    const known = this.#head ?? Buffer.alloc(0)
    const to = Math.min(chunk.length, at + FRAME_HEAD_BYTES - known.length)
    const head = Buffer.concat([known, chunk.subarray(at, to)])
    if (head.length < FRAME_HEAD_BYTES) {
      this.#head = head
      return to
    }
    this.#head = undefined
    const length = messageLength(head, 0, this.#bytesMax)
    if (length === 0) this.#onMessage(Buffer.alloc(0))
    else this.#begin(length)
    return to
  }

  #begin(length: number): void {
    this.#message = Buffer.allocUnsafeSlow(length)
    this.#filled = 0
  }

  #fill(message: Buffer, chunk: Buffer, at: number): number {
    const copied = chunk.copy(message, this.#filled, at)
    this.#filled += copied
    if (this.#filled === message.length) {
      this.#message = undefined
      this.#onMessage(message)
    }
    return at + copied
  }
}

/** Checks the frame header at `at`, and returns the length of the message. */
export function messageLength(bytes: Buffer, at: number, bytesMax = MESSAGE_BYTES_MAX): number {
  if (bytes[at] !== 0)
    throw new GrpcError('Internal', 'received a compressed message although none was requested')
  const length = bytes.readUInt32BE(at + 1)
  if (length > bytesMax) {
    throw new GrpcError(
      'ResourceExhausted',
      `a message of ${length} bytes is longer than the limit of ${bytesMax}`,
      { isTooLarge: true },
    )
  }
  return length
}
