/**
 * The sending half of a stream. It does not buffer data: as far as the peer's flow control windows
 * allow, data is copied directly from the caller's memory to the output.
 */

/** Makes the connection send as much of the stream's data as possible now, and the rest later. */
export type Send = (stream: SendingStream) => void

export class SendingStream {
  readonly id: number
  /** The send window: how many bytes the peer accepts at the moment. The connection updates it. */
  sendWindow: number
  /** Whether both sides have ended the stream, or either side has reset it. */
  isClosed = false
  /** Whether the stream is in the queue of streams that have data to send. */
  isQueued = false
  /** Number of unsent bytes of the current write. */
  leftBytes = 0
  sentBytes = 0
  /** Whether the caller has ended the stream. Some of the data may still be unsent. */
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
   * Writes data. Returns true if all of it has been copied, so that the caller can reuse the memory
   * of `parts`. Otherwise calls `onTaken` when all data has been copied or the stream has closed.
   * Only one write can be pending.
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
   * Ends the stream after the current write. If a write is pending, `parts` must be empty. The
   * parts must not change until they are sent.
   */
  end(parts: readonly Buffer[] = nothing): void {
    if (this.isClosed || this.isEnding) return
    if (this.leftBytes === 0) this.#put(parts)
    this.isEnding = true
    this.#send(this)
  }

  /**
   * Copies the next bytes to send. Only the connection may call this method and the following ones.
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

  /** Called when all written data has been copied. */
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
