/**
 * A request on an HTTP/2 connection, and its response. The body of the request is buffered until it
 * is read.
 */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Code } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import type { Sender } from './sender.ts'
import { SendingStream } from './sending-stream.ts'

/** Receives a body. */
export type BodyListener = {
  /**
   * Called with a part of the body. If it returns a promise, the client's flow control window grows
   * by the same number of bytes only when the promise resolves. The promise must not reject.
   */
  readonly onData: (chunk: Buffer) => MaybePromise<void>
  /** Called when the body is complete. */
  readonly onEnd: () => void
  /** Called when the stream ends before the body is complete. */
  readonly onClose: () => void
}

/**
 * Unread bodies up to this size do not use the memory budget. Most bodies are shorter and arrive
 * together with their headers.
 */
const UNREAD_BYTES = 16 * 1024

/**
 * Limits the memory for unread bodies. `holdUnread` is called before more bytes of an unread body
 * are buffered. If it returns false, the memory budget is used up, and the body is dropped.
 */
export interface UnreadHolder {
  readonly holdUnread: (bytes: number) => boolean
}

/** The functions of the connection that a stream needs. */
export interface StreamOwner {
  readonly reset: (stream: ServerStream, code: Code) => void
  /** Lets the client send this number of bytes more on the stream. */
  readonly returnWindow: (stream: ServerStream, bytes: number) => void
  /** Releases memory of the budget for large headers. */
  readonly giveHeaderMemory: (bytes: number) => void
}

type ServerStreamOptions = {
  readonly owner: StreamOwner
  readonly sender: Sender
  readonly id: number
  readonly head: RequestHead
  /** Number of bytes reserved for the headers in the budget for large headers. */
  readonly heldBytes: number
  readonly isEnded: boolean
  readonly sendWindow: number
  readonly receiveWindow: number
}

const noHead: RequestHead = { method: '', target: '', headers: {}, contentLength: -1 }

export class ServerStream extends SendingStream {
  /**
   * The method, target and headers of the request. They are discarded when the response begins,
   * because they are not needed after that.
   */
  head: RequestHead
  /**
   * Whether `head` is still needed when the stream is closed. If so, the owner later calls
   * `releaseHead`.
   */
  isHeadInUse = false
  readonly contentLength: number
  #heldBytes: number
  readonly #owner: StreamOwner
  readonly #sender: Sender
  /**
   * Number of bytes that the client can still send, and number of bytes that were read but not yet
   * returned with WINDOW_UPDATE. The connection updates both.
   */
  receiveWindow: number
  returnedBytes = 0
  /** Number of body bytes received, excluding padding. */
  receivedBytes = 0
  isRemoteEnded: boolean
  /** Called once, when the response has been sent or either side has reset the stream. */
  onClose: (() => void) | undefined
  /**
   * Limits the memory for unread bytes of the body. If undefined, they are limited only by the flow
   * control window.
   */
  unreadHolder: UnreadHolder | undefined
  /** Body data that has not been read yet. */
  readonly #held = new GrowingBuffer()
  #reader: BodyListener | undefined
  #isDropping = false

  constructor(options: ServerStreamOptions) {
    super(options.id, options.sendWindow, options.sender.send)
    this.#owner = options.owner
    this.#sender = options.sender
    this.head = options.head
    this.contentLength = options.head.contentLength
    this.#heldBytes = options.heldBytes
    this.isRemoteEnded = options.isEnded
    this.receiveWindow = options.receiveWindow
  }

  /**
   * Begins the headers of the response. The caller must write them to the returned encoder and then
   * call `sendHead`. It must not call other methods in between.
   */
  beginHead(status: number): HpackEncoder {
    const head = this.#sender.beginHead()
    head.status(status)
    return head
  }

  /** Sends the headers. `isEnd` means that the response has no body. */
  sendHead(isEnd: boolean): void {
    if (this.isClosed) return
    if (isEnd) this.isEnding = true
    this.releaseHead()
    // Code that needs the body reads it before the response begins. So drop an unread body now.
    if (this.#reader === undefined) this.drop()
    this.#sender.sendHead(this, isEnd)
  }

  /** Ends the stream with trailers. All previous writes must have completed. */
  endWith(trailers: { readonly [name: string]: string | readonly string[] }): void {
    if (this.isClosed || this.isEnding) return
    const fields = this.#sender.beginHead()
    for (const name in trailers) {
      const value = trailers[name]
      if (value !== undefined) fields.field(name, value)
    }
    // Without trailers, no HEADERS frame can end the stream. End it with a DATA frame.
    if (fields.length === 0) return this.end()
    this.isEnding = true
    this.#sender.sendHead(this, true)
  }

  reset(code: Code): void {
    if (!this.isClosed) this.#owner.reset(this, code)
  }

  /** Whether there is body data to read, or more data can arrive. */
  get hasBody(): boolean {
    return !this.isRemoteEnded || this.#held.length > 0
  }

  /**
   * Passes all data of the body to `reader`: first what has already arrived, then the rest as it
   * arrives.
   */
  read(reader: BodyListener): void {
    // The body is incomplete, because some of its data was dropped.
    if (this.#isDropping) return reader.onClose()
    this.#reader = reader
    if (this.#held.length > 0) this.#deliver(reader, this.#held.take())
    if (this.isRemoteEnded) reader.onEnd()
  }

  /** Discards the rest of the body. */
  drop(): void {
    this.#reader = undefined
    this.#held.take()
    this.#isDropping = true
  }

  /** This method and the following ones must be called only by the connection. */
  receive(chunk: Buffer): void {
    if (this.#isDropping) return
    if (this.#reader !== undefined) return this.#deliver(this.#reader, chunk)
    const isMuch = this.#held.length + chunk.length > UNREAD_BYTES
    if (isMuch && this.unreadHolder?.holdUnread(chunk.length) === false) this.drop()
    else this.#held.append(chunk)
  }

  #deliver(reader: BodyListener, chunk: Buffer): void {
    const taken = reader.onData(chunk)
    if (taken !== undefined) void taken.then(() => this.#owner.returnWindow(this, chunk.length))
    // Once the body is complete, the client sends no more data, so the window need not grow.
    else if (!this.isRemoteEnded) this.#owner.returnWindow(this, chunk.length)
  }

  /** Bytes reserved for large headers. They are released when the response begins. */
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
