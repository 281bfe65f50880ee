/** One request of a connection and its answer. The body is held until it is read. */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Code } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import { SendingStream } from './sending-stream.ts'

/** The reader of a body. */
export type BodyListener = {
  /**
   * May return a promise, which must not reject: until it resolves the client gets no more window.
   */
  readonly onData: (chunk: Buffer) => MaybePromise<void>
  /** The body is complete. */
  readonly onEnd: () => void
  /** The rest of the body will not come. */
  readonly onClose: () => void
}

/**
 * Bytes of a body that wait to be read are not counted up to this: most bodies are shorter, and
 * come with their head.
 */
const UNREAD_BYTES = 16 * 1024

/**
 * Asked before more of a body is kept that nobody reads yet. False: there is no room, and the body
 * is dropped.
 */
export interface UnreadHolder {
  readonly holdUnread: (bytes: number) => boolean
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  /** Begins the headers of an answer. */
  readonly beginHead: (status: number) => HpackEncoder
  readonly beginTrailers: () => HpackEncoder
  readonly sendHead: (stream: ServerStream, isEnd: boolean) => void
  readonly send: (stream: SendingStream) => void
  readonly reset: (stream: ServerStream, code: Code) => void
  /** Gives the client window for so many bytes. */
  readonly returnWindow: (stream: ServerStream, bytes: number) => void
  /** Gives back memory that large headers share. */
  readonly giveHeaderMemory: (bytes: number) => void
}

type First = {
  readonly id: number
  readonly head: RequestHead
  /** The bytes that the head has taken from the memory for large headers. */
  readonly heldBytes: number
  readonly isEnded: boolean
  readonly sendWindow: number
  readonly receiveWindow: number
}

const noHead: RequestHead = { method: '', target: '', headers: {}, contentLength: -1 }

export class ServerStream extends SendingStream {
  /** Empty once the answer has begun: it is not read any more then. */
  head: RequestHead
  /**
   * The owner has it in memory even if the stream is closed, and calls `releaseHead` when that is
   * over.
   */
  isHeadInUse = false
  readonly contentLength: number
  #heldBytes: number
  readonly #owner: StreamOwner
  /**
   * What the client may still send; and what has been read but not given back by WINDOW_UPDATE yet.
   * Updated by the connection.
   */
  receiveWindow: number
  returnedBytes = 0
  /** Bytes of the body that have come, without padding. */
  receivedBytes = 0
  isRemoteEnded: boolean
  /** Called once, when the answer is sent or either side has reset the stream. */
  onClose: (() => void) | undefined
  /** Undefined: any amount is kept, which the window bounds. */
  unreadHolder: UnreadHolder | undefined
  /** Data of the body that is not read yet. */
  readonly #held = new GrowingBuffer()
  #reader: BodyListener | undefined
  #isDropping = false

  constructor(
    owner: StreamOwner,
    { id, head, heldBytes, isEnded, sendWindow, receiveWindow }: First,
  ) {
    super(id, sendWindow, owner.send)
    this.#owner = owner
    this.head = head
    this.contentLength = head.contentLength
    this.#heldBytes = heldBytes
    this.isRemoteEnded = isEnded
    this.receiveWindow = receiveWindow
  }

  /**
   * The fields must be written to the returned encoder, then `sendHead` must be called, without
   * anything in between.
   */
  beginHead(status: number): HpackEncoder {
    return this.#owner.beginHead(status)
  }

  /** `isEnd`: the answer has no body. */
  sendHead(isEnd: boolean): void {
    if (this.isClosed) return
    if (isEnd) this.isEnding = true
    this.releaseHead()
    // A body that is not being read by now will not be read.
    if (this.#reader === undefined) this.drop()
    this.#owner.sendHead(this, isEnd)
  }

  /** Ends the stream with fields after its body, all of which has been taken. */
  endWith(trailers: { readonly [name: string]: string | readonly string[] }): void {
    if (this.isClosed || this.isEnding) return
    const fields = this.#owner.beginTrailers()
    for (const name in trailers) {
      const value = trailers[name]
      if (value !== undefined) fields.field(name, value)
    }
    // A block without fields has no frame that could end the stream.
    if (fields.length === 0) return this.end()
    this.isEnding = true
    this.#owner.sendHead(this, true)
  }

  reset(code: Code): void {
    if (!this.isClosed) this.#owner.reset(this, code)
  }

  /** False: there is nothing to read, and nothing will come. */
  get hasBody(): boolean {
    return !this.isRemoteEnded || this.#held.length > 0
  }

  /** Delivers what has come of the body, and what follows. */
  read(reader: BodyListener): void {
    // The data was dropped, even if the body was complete.
    if (this.#isDropping) return reader.onClose()
    this.#reader = reader
    if (this.#held.length > 0) this.#deliver(reader, this.#held.take())
    if (this.isRemoteEnded) reader.onEnd()
  }

  /** Drops the rest of the body. */
  drop(): void {
    this.#reader = undefined
    this.#held.take()
    this.#isDropping = true
  }

  /** This method and those below are for the connection only. */
  receive(chunk: Buffer): void {
    if (this.#isDropping) return
    if (this.#reader !== undefined) return this.#deliver(this.#reader, chunk)
    const isMuch = this.#held.length + chunk.length > UNREAD_BYTES
    if (isMuch && this.unreadHolder?.holdUnread(chunk.length) === false) this.drop()
    else this.#held.append(chunk)
  }

  #deliver(reader: BodyListener, chunk: Buffer): void {
    const taken = reader.onData(chunk)
    if (taken === undefined) this.#owner.returnWindow(this, chunk.length)
    else void taken.then(() => this.#owner.returnWindow(this, chunk.length))
  }

  /** What its head has taken, until the answer begins. */
  get largeHeadBytes(): number {
    return this.#heldBytes
  }

  releaseHead(): void {
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
    if (!this.isHeadInUse) this.releaseHead()
    this.drop()
    this.stopSending()
    this.onClose?.()
  }
}
