/**
 * The sending half of a stream. It has no buffer: what is written is copied to the output as far as
 * the peer's windows allow.
 */

/** Makes the connection send what the stream has, as far as possible now, and the rest later. */
export type Send = (stream: SendingStream) => void

export class SendingStream {
  readonly id: number
  /** The send window. Updated by the connection. */
  sendWindow: number
  /** Both sides have ended the stream, or it was reset. */
  isClosed = false
  /** The stream is in the connection's queue of those that have something to send. */
  isQueued = false
  /** Bytes of the current write that are not sent yet. */
  leftBytes = 0
  sentBytes = 0
  /** What is to be sent is complete, whether or not all of it has been sent. */
  isEnding = false
  readonly #send: Send
  /** What is being sent, and which byte of which part is next. */
  #parts: readonly Buffer[] = nothing
  #part = 0
  #offset = 0
  #onTaken: (() => void) | undefined

  constructor(id: number, sendWindow: number, send: Send) {
    this.id = id
    this.sendWindow = sendWindow
    this.#send = send
  }

  /**
   * True: all has been taken, and the parts' memory may be reused. False: `onTaken` will be called
   * when that is so, or when the stream is closed. Not to be called again before.
   */
  write(parts: readonly Buffer[], onTaken: () => void): boolean {
    if (this.isClosed) return true
    this.#put(parts)
    this.#send(this)
    if (this.leftBytes === 0) return true
    this.#onTaken = onTaken
    return false
  }

  /**
   * Ends the stream after what is being written; then there must be no parts. The parts must not
   * change until they are sent.
   */
  end(parts: readonly Buffer[] = nothing): void {
    if (this.isClosed || this.isEnding) return
    if (this.leftBytes === 0) this.#put(parts)
    this.isEnding = true
    this.#send(this)
  }

  /**
   * Copies the next bytes that are to be sent. This method and those below are for the connection
   * only.
   */
  copy(into: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const part = this.#parts[this.#part]
      if (part === undefined) return
      const copied = part.copy(into, at, this.#offset, this.#offset + end - at)
      at += copied
      this.#offset += copied
      if (this.#offset < part.length) continue
      this.#part++
      this.#offset = 0
    }
  }

  /** Everything that was to be sent has been taken. */
  taken(): void {
    this.#parts = nothing
    const onTaken = this.#onTaken
    this.#onTaken = undefined
    onTaken?.()
  }

  protected stopSending(): void {
    this.leftBytes = 0
    this.taken()
  }

  #put(parts: readonly Buffer[]): void {
    let bytes = 0
    for (const part of parts) bytes += part.length
    this.#parts = parts
    this.#part = 0
    this.#offset = 0
    this.leftBytes = bytes
  }
}

const nothing: readonly Buffer[] = []
