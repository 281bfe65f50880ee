/** One request of a connection and its answer. What it receives is held until somebody reads. */
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Code } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import { SendingStream } from './sending-stream.ts'

/** Who reads a body. */
export type BodyListener = {
  /** A promise, which is always kept: until then the client may send no more than its window still has room for. */
  readonly onData: (chunk: Buffer) => void | Promise<void>
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
  readonly send: (stream: SendingStream) => void
  readonly reset: (stream: ServerStream, code: Code) => void
  /** The client may send so much more of the body. */
  readonly returnWindow: (stream: ServerStream, bytes: number) => void
  /** Of what large headers share. */
  readonly giveHeaderMemory: (bytes: number) => void
}

type First = {
  readonly id: number
  readonly head: RequestHead
  /** What the head has of the memory for large ones. */
  readonly heldBytes: number
  readonly isEnded: boolean
  readonly sendWindow: number
  readonly receiveWindow: number
}

const noHead: RequestHead = { method: '', target: '', headers: {}, contentLength: -1 }

export class ServerStream extends SendingStream {
  /** Empty from the moment that the answer has begun: then nobody reads it any more. */
  head: RequestHead
  readonly contentLength: number
  #heldBytes: number
  readonly #owner: StreamOwner
  /** What the client may still send; and what has been read of that and not yet told to it. Kept by the connection. */
  receiveWindow: number
  returnedBytes = 0
  /** Of the body, without padding. */
  receivedBytes = 0
  isRemoteEnded: boolean
  /** Called once: the answer is sent, or the stream was given up by one of the two sides. */
  onClose: (() => void) | undefined
  /** Body that nobody has read yet. */
  readonly #held = new GrowingBuffer()
  #reader: BodyListener | undefined
  #isDropping = false

  constructor(owner: StreamOwner, { id, head, heldBytes, isEnded, sendWindow, receiveWindow }: First) {
    super(id, sendWindow, owner.send)
    this.#owner = owner
    this.head = head
    this.contentLength = head.contentLength
    this.#heldBytes = heldBytes
    this.isRemoteEnded = isEnded
    this.receiveWindow = receiveWindow
  }

  /** The fields of the answer are to be written to what this returns, then comes `sendHead`, without anything in between. */
  beginHead(status: number): HpackEncoder {
    return this.#owner.beginHead(status)
  }

  /** `isEnd`: the answer has no body. */
  sendHead(isEnd: boolean): void {
    if (this.isClosed) return
    if (isEnd) this.isEnding = true
    this.#releaseHead()
    // A body that nobody has asked for will not be asked for any more.
    if (this.#reader === undefined) this.drop()
    this.#owner.sendHead(this, isEnd)
  }

  reset(code: Code): void {
    if (!this.isClosed) this.#owner.reset(this, code)
  }

  /** Tells what has come and what will come of the body. */
  read(reader: BodyListener): void {
    // What came of it is gone, even where all had come.
    if (this.#isDropping) return reader.onClose()
    this.#reader = reader
    if (this.#held.length > 0) this.#deliver(reader, this.#held.take())
    if (this.isRemoteEnded) reader.onEnd()
  }

  /** Nobody wants the rest of the body. */
  drop(): void {
    this.#reader = undefined
    this.#held.take()
    this.#isDropping = true
  }

  /** For the connection, as is all below. */
  receive(chunk: Buffer): void {
    if (this.#isDropping) return
    if (this.#reader === undefined) this.#held.append(chunk)
    else this.#deliver(this.#reader, chunk)
  }

  #deliver(reader: BodyListener, chunk: Buffer): void {
    const taken = reader.onData(chunk)
    if (taken === undefined) this.#owner.returnWindow(this, chunk.length)
    else void taken.then(() => this.#owner.returnWindow(this, chunk.length))
  }

  #releaseHead(): void {
    this.head = noHead
    if (this.#heldBytes > 0) this.#owner.giveHeaderMemory(this.#heldBytes)
    this.#heldBytes = 0
  }

  endRemote(): void {
    this.isRemoteEnded = true
    this.#reader?.onEnd()
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (!this.isRemoteEnded) this.#reader?.onClose()
    this.#releaseHead()
    this.drop()
    this.stopSending()
    this.onClose?.()
  }
}
