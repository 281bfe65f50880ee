import type { Duplex } from './duplex.ts'
import { GrpcError } from './errors.ts'

export type StreamOptions = {
  readonly path: string
  readonly requireLeader: boolean
  /** Prefer another endpoint than the one of the last such stream. */
  readonly away?: boolean
  /** Use only a connection that passes the channel's check. */
  readonly needsCheck?: boolean
  readonly onMessage: (message: Buffer) => void
  readonly onEnd: (error: GrpcError | undefined) => void
}

/**
 * How many messages may wait for the connection. Each is a request of a caller; so many at once are
 * a mistake.
 */
const UNSENT_MAX = 10_000

/** A stream that may not be connected yet. */
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
        new GrpcError('ResourceExhausted', 'too much is sent before the connection is there'),
      )
    else if (!this.#isClosed) this.#unsent.push(frame)
  }

  /** Nothing more is sent; answers may still come. */
  finish(): void {
    this.#isFinished = true
    this.#duplex?.finish()
  }

  /** `onEnd` is called before this returns, unless it was called before. */
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

  /** Ends a stream that was never connected. */
  #end(error: GrpcError | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unsent = []
    this.#options.onEnd(error)
  }
}
