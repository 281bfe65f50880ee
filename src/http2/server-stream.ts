/**
 * One request of a connection and its answer. It has no buffers of its own: what it sends is copied to the connection's output
 * as far as the client lets it, and what it receives is held until somebody reads.
 */
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Code } from './protocol.ts'
import type { RequestHead } from './request-head.ts'

/** Who reads a body. */
export type BodyListener = {
  readonly onData: (chunk: Buffer) => void
  /** All has come. */
  readonly onEnd: () => void
  /** The rest will not come. */
  readonly onClose: () => void
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  /** Begins the headers of an answer. */
  readonly beginHead: (status: number) => HpackEncoder
  readonly sendHead: (stream: ServerStream, isEnd: boolean) => void
  /** Sends of what the stream has to send, as far as it goes now; the rest later. */
  readonly send: (stream: ServerStream) => void
  readonly reset: (stream: ServerStream, code: Code) => void
  /** The client may send so much more of the body. */
  readonly returnWindow: (stream: ServerStream, bytes: number) => void
}

export class ServerStream {
  readonly id: number
  readonly head: RequestHead
  readonly #owner: StreamOwner
  /** What the client still takes, and may still send. Kept by the connection. */
  sendWindow: number
  receiveWindow: number
  /** Read, and not yet told to the client. */
  returnedBytes = 0
  /** Of the body, without padding. */
  receivedBytes = 0
  isRemoteEnded: boolean
  /** The last byte has been sent, or nothing will be any more. */
  isClosed = false
  /** It stands in the connection's queue of those that have something to send. */
  isQueued = false
  /** The connection calls it once: the answer is sent, or the stream was given up by one of the two sides. */
  onClose: ((isAborted: boolean) => void) | undefined
  /** Of what is being sent. */
  leftBytes = 0
  sentBytes = 0
  /** The answer is complete, whether or not all of it has been sent. */
  isEnding = false
  /** What is being sent, and which byte of which part is next. */
  #parts: readonly Buffer[] = nothing
  #part = 0
  #offset = 0
  #onTaken: (() => void) | undefined
  /** Body that nobody has read yet. */
  #held: Buffer[] = []
  #reader: BodyListener | undefined
  #isDropping = false

  constructor(
    owner: StreamOwner,
    first: {
      readonly id: number
      readonly head: RequestHead
      readonly isEnded: boolean
      readonly sendWindow: number
      readonly receiveWindow: number
    },
  ) {
    this.#owner = owner
    this.id = first.id
    this.head = first.head
    this.isRemoteEnded = first.isEnded
    this.sendWindow = first.sendWindow
    this.receiveWindow = first.receiveWindow
  }

  /** The fields of the answer are to be written to what this returns, then comes `sendHead`, without anything in between. */
  beginHead(status: number): HpackEncoder {
    return this.#owner.beginHead(status)
  }

  /** `isEnd`: the answer has no body. */
  sendHead(isEnd: boolean): void {
    if (this.isClosed) return
    if (isEnd) this.isEnding = true
    this.#owner.sendHead(this, isEnd)
  }

  /**
   * True: all has been taken, and the parts' memory is free. False: `onTaken` will be called when that is so, or when the
   * stream is closed. Not to be called again before.
   */
  write(parts: readonly Buffer[], onTaken: () => void): boolean {
    if (this.isClosed) return true
    this.#put(parts)
    this.#owner.send(this)
    if (this.leftBytes === 0) return true
    this.#onTaken = onTaken
    return false
  }

  /** The end of the answer, behind what is being written. The parts' memory stays as it is until they are sent. */
  end(parts: readonly Buffer[] = nothing): void {
    if (this.isClosed || this.isEnding) return
    if (this.leftBytes === 0) this.#put(parts)
    this.isEnding = true
    this.#owner.send(this)
  }

  reset(code: Code): void {
    if (!this.isClosed) this.#owner.reset(this, code)
  }

  /** Tells what has come and what will come of the body. */
  read(reader: BodyListener): void {
    this.#reader = reader
    const held = this.#held
    this.#held = []
    for (const chunk of held) {
      reader.onData(chunk)
      this.#owner.returnWindow(this, chunk.length)
    }
    if (this.isRemoteEnded) reader.onEnd()
    else if (this.isClosed) reader.onClose()
  }

  /** Nobody wants the rest of the body. */
  drop(): void {
    this.#reader = undefined
    this.#held = []
    this.#isDropping = true
  }

  /** For the connection, as is all below. */
  receive(chunk: Buffer): void {
    if (this.#isDropping) return
    if (this.#reader === undefined) {
      this.#held.push(chunk)
      return
    }
    this.#reader.onData(chunk)
    this.#owner.returnWindow(this, chunk.length)
  }

  endRemote(): void {
    this.isRemoteEnded = true
    this.#reader?.onEnd()
  }

  /** Copies the next bytes of what is being sent. */
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

  close(isAborted: boolean): void {
    if (this.isClosed) return
    this.isClosed = true
    this.leftBytes = 0
    if (!this.isRemoteEnded) this.#reader?.onClose()
    this.drop()
    this.taken()
    this.onClose?.(isAborted)
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
