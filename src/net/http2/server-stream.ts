/** One request of a connection and its response. The body is buffered until it is read. */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Code } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import { SendingStream } from './sending-stream.ts'

/** Receives a body. */
export type BodyListener = {
  /**
   * May return a promise, which must not reject. Until it resolves, the client gets no more window.
   */
  readonly onData: (chunk: Buffer) => MaybePromise<void>
  /** Called when the body is complete. */
  readonly onEnd: () => void
  /** Called when the rest of the body will not arrive. */
  readonly onClose: () => void
}

/**
 * Unread bytes of a body up to this size are not counted. Most bodies are shorter and arrive
 * together with their head.
 */
const UNREAD_BYTES = 16 * 1024

/**
 * Called before more of an unread body is buffered. Returns false if there is no room; the body is
 * then dropped.
 */
export interface UnreadHolder {
  readonly holdUnread: (bytes: number) => boolean
}

/** The functions of the connection that a stream uses. */
export interface StreamOwner {
  /** Begins the headers of a response. */
  readonly beginHead: (status: number) => HpackEncoder
  readonly beginTrailers: () => HpackEncoder
  readonly sendHead: (stream: ServerStream, isEnd: boolean) => void
  readonly send: (stream: SendingStream) => void
  readonly reset: (stream: ServerStream, code: Code) => void
  /** Lets the client send this many more bytes on the stream. */
  readonly returnWindow: (stream: ServerStream, bytes: number) => void
  /** Releases memory of the budget for large headers. */
  readonly giveHeaderMemory: (bytes: number) => void
}

type First = {
  readonly id: number
  readonly head: RequestHead
  /** Bytes reserved for the head in the budget for large headers. */
  readonly heldBytes: number
  readonly isEnded: boolean
  readonly sendWindow: number
  readonly receiveWindow: number
}

const noHead: RequestHead = { method: '', target: '', headers: {}, contentLength: -1 }

export class ServerStream extends SendingStream {
  /**
   * The request's head. It is emptied once the response begins, because nothing reads it after
   * that.
   */
  head: RequestHead
  /**
   * Whether the owner uses the head even after the stream is closed. The owner then calls
   * `releaseHead` when it is done.
   */
  isHeadInUse = false
  readonly contentLength: number
  #heldBytes: number
  readonly #owner: StreamOwner
  /**
   * Bytes that the client may still send, and bytes that were read but not yet returned by
   * WINDOW_UPDATE. The connection updates both.
   */
  receiveWindow: number
  returnedBytes = 0
  /** Number of body bytes received, without padding. */
  receivedBytes = 0
  isRemoteEnded: boolean
  /** Called once, when the response is sent or either side has reset the stream. */
  onClose: (() => void) | undefined
  /** Limits unread bytes of the body. If undefined, only the window limits them. */
  unreadHolder: UnreadHolder | undefined
  /** Body data that is not read yet. */
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
   * Begins the headers of the response. The caller must write the fields to the returned encoder
   * and then call `sendHead`, with nothing in between.
   */
  beginHead(status: number): HpackEncoder {
    return this.#owner.beginHead(status)
  }

  /** Sends the headers. `isEnd` means that the response has no body. */
  sendHead(isEnd: boolean): void {
    if (this.isClosed) return
    if (isEnd) this.isEnding = true
    this.releaseHead()
    // A body that is not being read by now will never be read.
    if (this.#reader === undefined) this.drop()
    this.#owner.sendHead(this, isEnd)
  }

  /** Ends the stream with trailers. The whole body must have been taken before. */
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

  /** Whether there is body data to read, or more may arrive. */
  get hasBody(): boolean {
    return !this.isRemoteEnded || this.#held.length > 0
  }

  /** Delivers the body data received so far, and all that follows. */
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

  /** Only the connection may call this method and those below. */
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

  /** Bytes reserved for a large head. They are released when the response begins. */
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
