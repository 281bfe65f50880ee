/**
 * Reads from all sockets into one buffer. Otherwise, Node would allocate a buffer for every read,
 * and long responses would cause much garbage collection. Each chunk is processed before the next
 * read, so the sockets can share the buffer.
 */
import type { OnReadOpts } from 'node:net'

/** Size of the buffer. It is larger than a TLS record. */
const READ_BYTES = 64 * 1024

export type Reads = {
  /** The `onread` option of a Node socket. */
  readonly onread: OnReadOpts
  /**
   * Sets the receiver of the chunks. Chunks that arrived earlier were buffered, and are passed to
   * the receiver first.
   */
  readonly readTo: (take: (chunk: Buffer) => void) => void
}

export class SharedReads {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES)

  /**
   * Returns the `onread` option for one new socket, and the function that sets the receiver of its
   * data.
   */
  begin(): Reads {
    let take: ((chunk: Buffer) => void) | undefined
    /**
     * Chunks that arrived before the receiver was set, because a server can send data before it
     * receives a request.
     */
    let early: Buffer[] = []
    const callback = (bytes: number, buffer: Uint8Array): boolean => {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, bytes)
      if (take === undefined) early.push(Buffer.from(chunk))
      else take(chunk)
      return true
    }
    return {
      onread: { buffer: this.#buffer, callback },
      readTo: (taking) => {
        take = taking
        for (const chunk of early) taking(chunk)
        early = []
      },
    }
  }
}
