/**
 * Reading of sockets into one buffer. Node allocates one for every read otherwise: of a long answer
 * that is passed on a fifth of the time went into collecting them. What was read is handed over at
 * once, before anything else is read, so that all sockets can share it.
 */
import type { OnReadOpts } from 'node:net'

/** More than a record of TLS. */
const READ_BYTES = 64 * 1024

export type Reads = {
  /** Node's option. */
  readonly onread: OnReadOpts
  /**
   * Who gets what is read. Nothing is read before the handshake has ended; then it has to be known.
   */
  readonly readTo: (take: (chunk: Buffer) => void) => void
}

export class SharedReads {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES)

  /** For one socket. */
  begin(): Reads {
    let take: ((chunk: Buffer) => void) | undefined
    /** What came before somebody took it: a server may speak first. */
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
