/**
 * The sending half of a stream. It has no buffer: data is copied from the caller's memory to the
 * output as far as the peer's windows allow.
 */

/** Makes the connection send the stream's data: as much as possible now, and the rest later. */
export type Send = (stream: SendingStream) => void

export class SendingStream {
  readonly id: number
  /** The send window, which the connection updates. */
  sendWindow: number
  /** Whether both sides have ended the stream, or it was reset. */
  isClosed = false
  /** Whether the stream is in the connection's queue of streams that have data to send. */
  isQueued = false
  /** Bytes of the current write that are not sent yet. */
  leftBytes = 0
  sentBytes = 0
  /** Whether no further data will be written, even if some of it is not sent yet. */
  isEnding = false
  readonly #send: Send
  /** The data being sent. `#part` and `#offset` locate its next byte. */
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
   * Writes data. Returns true if all of it has been taken, so that the memory of `parts` may be
   * reused. Otherwise calls `onTaken` when that is so or when the stream closes. Must not be called
   * again before that.
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
   * Ends the stream after the current write. `parts` must be empty while a write is in progress,
   * and must not change until it is sent.
   */
  end(parts: readonly Buffer[] = nothing): void {
    if (this.isClosed || this.isEnding) return
    if (this.leftBytes === 0) this.#put(parts)
    this.isEnding = true
    this.#send(this)
  }

  /** Copies the next bytes to send. Only the connection may call this method and those below. */
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

  /** Called when all written data has been taken. */
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
