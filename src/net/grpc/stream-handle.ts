import type { Duplex } from './duplex.ts'
import { GrpcError } from './errors.ts'

export type StreamOptions = {
  readonly path: string
  readonly requireLeader: boolean
  /** Whether to prefer another endpoint than that of the previous stream. */
  readonly away?: boolean
  /** Whether the channel must check the connection before the stream uses it. */
  readonly needsCheck?: boolean
  readonly onMessage: (message: Buffer) => void
  readonly onEnd: (error: GrpcError | undefined) => void
}

/**
 * Maximum number of messages that are buffered until the connection is open. Callers send only a
 * few messages before that, so a larger number indicates a bug.
 */
const UNSENT_MAX = 10_000

/** A stream that buffers its messages until its connection is open. */
export class StreamHandle {
  readonly #options: StreamOptions
  #unsent: Buffer[] = []
  #duplex: Duplex | undefined
  #isFinished = false
  #isClosed = false

  constructor(options: StreamOptions, open: () => Promise<Duplex>) {
    this.#options = options
    void this.#connect(open)
  }

  send(frame: Buffer): void {
    if (this.#duplex !== undefined) this.#duplex.send(frame)
    else if (this.#unsent.length >= UNSENT_MAX)
      this.#end(
        new GrpcError('ResourceExhausted', 'too many messages are waiting for the connection'),
      )
    else if (!this.#isClosed) this.#unsent.push(frame)
  }

  /** Ends the request. Responses can still arrive. */
  finish(): void {
    this.#isFinished = true
    this.#duplex?.finish()
  }

  /**
   * Closes the stream. `onEnd` is called before this method returns, unless it was called before.
   */
  close(): void {
    if (this.#duplex !== undefined) this.#duplex.close()
    else this.#end(undefined)
  }

  pause(): void {
    this.#duplex?.pause()
  }

  resume(): void {
    this.#duplex?.resume()
  }

  async #connect(open: () => Promise<Duplex>): Promise<void> {
    try {
      const duplex = await open()
      if (this.#isClosed) return duplex.abandon()
      this.#duplex = duplex
      for (const frame of this.#unsent) duplex.send(frame)
      this.#unsent = []
      if (this.#isFinished) duplex.finish()
    } catch (error) {
      this.#end(
        error instanceof GrpcError
          ? error
          : new GrpcError('Internal', String(error), { cause: error }),
      )
    }
  }

  /** Ends a stream whose connection was not opened. */
  #end(error: GrpcError | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unsent = []
    this.#options.onEnd(error)
  }
}
