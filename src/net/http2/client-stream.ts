/** A request that this client sends, and its response. */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { HeaderField } from './field.ts'
import { CODE, type Code } from './protocol.ts'
import { type Send, SendingStream } from './sending-stream.ts'

export interface AnswerListener {
  /** Called with the headers of the response. `fields` is valid only during the call. */
  readonly onHead: (fields: readonly HeaderField[]) => void
  /**
   * Called with body data. If the connection uses `readTo`, the memory of the chunk is reused after
   * the call.
   */
  readonly onData: (chunk: Buffer) => void
  /**
   * Whether the listener calls `returnWindow` itself when it has processed data, to let the peer
   * send more. By default, data counts as processed when `onData` returns.
   */
  readonly returnsWindow?: boolean
  readonly onTrailers: (fields: readonly HeaderField[]) => void
  /**
   * Called once, after all other functions. `code` is the error code with which the stream was
   * reset, or 0 if the stream ended normally.
   */
  readonly onClose: (code: number) => void
}

/** The functions of the connection that a stream needs. */
export interface ClientStreamOwner {
  readonly send: Send
  readonly cancel: (stream: ClientStream, code: Code) => void
  readonly returnWindow: (stream: ClientStream, bytes: number) => void
  readonly widen: (stream: ClientStream, more: number) => void
}

export class ClientStream extends SendingStream {
  receiveWindow: number
  /**
   * Size of the receive window: how many unprocessed bytes of the response the stream accepts.
   * WINDOW_UPDATE is sent when half of the window can be returned.
   */
  windowBytes: number
  returnedBytes = 0
  isRemoteEnded = false
  hasHead = false
  readonly #owner: ClientStreamOwner
  readonly #listener: AnswerListener
  readonly #isReturned: boolean
  /** Data that has arrived since the stream was paused. */
  #held: GrowingBuffer | undefined
  #trailers: readonly HeaderField[] | undefined
  #isReportedAtResume = false

  constructor(
    owner: ClientStreamOwner,
    first: {
      readonly id: number
      readonly sendWindow: number
      readonly receiveWindow: number
      readonly listener: AnswerListener
    },
  ) {
    super(first.id, first.sendWindow, owner.send)
    this.#owner = owner
    this.receiveWindow = first.receiveWindow
    this.windowBytes = first.receiveWindow
    this.#listener = first.listener
    this.#isReturned = first.listener.returnsWindow !== true
  }

  cancel(code: Code): void {
    if (!this.isClosed) return this.#owner.cancel(this, code)
    // The peer ended the stream while it was paused, so `onClose` is still to be called. A canceled
    // stream is never resumed, so call `onClose` now.
    if (!this.#isReportedAtResume) return
    this.#isReportedAtResume = false
    this.#held = undefined
    this.#trailers = undefined
    this.#listener.onClose(code)
  }

  /** Buffers arriving data, up to the size of the receive window. */
  pause(): void {
    this.#held ??= new GrowingBuffer()
  }

  resume(): void {
    const held = this.#held?.take()
    this.#held = undefined
    if (held !== undefined && held.length > 0) this.receive(held)
    // Stop if the listener paused the stream again when it received the data.
    if (this.#held !== undefined) return
    if (this.#trailers !== undefined) this.#listener.onTrailers(this.#trailers)
    this.#trailers = undefined
    const isReported = this.#isReportedAtResume
    this.#isReportedAtResume = false
    if (isReported) this.#listener.onClose(CODE.NO_ERROR)
  }

  /** This method and the following ones must be called only by the connection. */
  receiveHead(fields: readonly HeaderField[]): void {
    this.hasHead = true
    this.#listener.onHead(fields)
  }

  receive(chunk: Buffer): void {
    if (this.#held !== undefined) return this.#held.append(chunk)
    this.#listener.onData(chunk)
    if (this.#isReturned) this.#owner.returnWindow(this, chunk.length)
  }

  /**
   * Lets the peer send this number of bytes more, because the listener has processed as many. Call
   * this only with `returnsWindow`.
   */
  returnWindow(bytes: number): void {
    if (!this.isClosed) this.#owner.returnWindow(this, bytes)
  }

  /** Increases the receive window of this stream to `bytes`, unless it is already larger. */
  widen(bytes: number): void {
    const more = bytes - this.windowBytes
    if (more <= 0 || this.isClosed || this.isRemoteEnded) return
    this.windowBytes = bytes
    this.#owner.widen(this, more)
  }

  receiveTrailers(fields: readonly HeaderField[]): void {
    if (this.#held === undefined) this.#listener.onTrailers(fields)
    else this.#trailers = [...fields]
  }

  close(code: number): void {
    if (this.isClosed) return
    this.isClosed = true
    this.stopSending()
    if (code === CODE.NO_ERROR && this.#held !== undefined) this.#isReportedAtResume = true
    else this.#listener.onClose(code)
  }
}
