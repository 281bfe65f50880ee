/** A request that arrived over HTTP/2. */
import type { Headers } from '../../api/request.ts'
import { CODE } from '../http2/protocol.ts'
import type { ServerStream } from '../http2/server-stream.ts'
import type { AnswerDate } from './date.ts'
import { Exchange, type Head } from './exchange.ts'
import type { BodyForm } from './outgoing.ts'

export class Http2Exchange extends Exchange {
  protected readonly bodySource: ServerStream
  readonly #stream: ServerStream
  readonly #date: AnswerDate

  constructor(head: Head, stream: ServerStream, date: AnswerDate) {
    super(head)
    this.bodySource = stream
    this.#stream = stream
    this.#date = date
    if (!stream.isRemoteEnded) stream.unreadHolder = this
  }

  get isGone(): boolean {
    return this.#stream.isClosed
  }

  get isAnswered(): boolean {
    return this.#stream.isEnding
  }

  get isWriting(): boolean {
    return this.#stream.leftBytes > 0
  }

  get largeHeadBytes(): number {
    return this.#stream.largeHeadBytes
  }

  get leftBytes(): number {
    return this.#stream.leftBytes
  }

  get progress(): number {
    return this.#stream.sentBytes
  }

  override beginHandling(): void {
    super.beginHandling()
    this.#stream.isHeadInUse = true
  }

  override endHandling(): void {
    super.endHandling()
    this.#stream.isHeadInUse = false
    if (this.#stream.isClosed) this.#stream.releaseHead()
  }

  writeHead(status: number, headers: Headers, { length, isEnd = false }: BodyForm): void {
    // A response that was proxied from another server already has a Date header.
    const date = headers['date'] === undefined ? this.#date.get() : undefined
    const head = this.#stream.beginHead(status)
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) head.field(name, value)
    }
    if (length !== undefined) head.field('content-length', `${length}`)
    if (date !== undefined) head.field('date', date)
    this.#stream.sendHead(isEnd)
    this.releaseHead()
  }

  flushHead(): void {
    // HTTP/2 sends headers immediately, so there is nothing to flush.
  }

  write(parts: readonly Buffer[], onTaken: () => void): boolean {
    return this.#stream.write(parts, onTaken)
  }

  end(parts?: readonly Buffer[]): void {
    this.#stream.end(parts)
  }

  endWith(trailers: Headers): void {
    this.#stream.endWith(trailers)
  }

  abort(isFault = false): void {
    this.#stream.reset(isFault ? CODE.INTERNAL_ERROR : CODE.CANCEL)
  }
}
