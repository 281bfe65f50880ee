/**
 * Reads all sockets into one buffer. Otherwise Node allocates a buffer for every read, which makes
 * long responses spend much time on garbage collection. Each chunk is passed on before anything
 * else is read, so the sockets can share the buffer.
 */
import type { OnReadOpts } from 'node:net'

/** Size of the buffer, which exceeds a TLS record. */
const READ_BYTES = 64 * 1024

export type Reads = {
  /** Option for a socket of Node. */
  readonly onread: OnReadOpts
  /** Sets the receiver of the chunks. Chunks that arrived earlier are buffered for it. */
  readonly readTo: (take: (chunk: Buffer) => void) => void
}

export class SharedReads {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES)

  /** Returns the reads of one socket. */
  begin(): Reads {
    let take: ((chunk: Buffer) => void) | undefined
    /** Chunks that arrived before there was a receiver, because a server may send first. */
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
