/** A request that arrived over HTTP/1.1 and was parsed by Node's HTTP server. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Headers } from '../../api/request.ts'
import type { BodyListener } from '../http2/server-stream.ts'
import type { Turn } from '../http2/turn.ts'
import { headerLines } from '../../lib/net/header-lines.ts'
import { pieces } from '../../lib/bytes/pieces.ts'
import type { BodySource } from './body.ts'
import { Exchange, type Head } from './exchange.ts'
import type { BodyForm } from './outgoing.ts'

export type Http1Half = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly isClosing: () => boolean
  /**
   * Limits the large writes in each tick of the event loop. The limit is for all connections of the
   * listener together.
   */
  readonly turn: Turn
}

export class Http1Exchange extends Exchange {
  protected readonly bodySource: BodySource
  isWriting = false
  progress = 0
  readonly leftBytes = 0
  /**
   * Always 0, because `Http1Heads` reserves the memory for headers until the response has ended.
   */
  readonly largeHeadBytes = 0
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #isClosing: () => boolean
  readonly #turn: Turn
  #isEnding = false

  constructor(head: Head, half: Http1Half) {
    super(head)
    this.#request = half.request
    this.#response = half.response
    this.#isClosing = half.isClosing
    this.#turn = half.turn
    this.bodySource = new RequestBody(half.request)
  }

  get isGone(): boolean {
    return this.#response.destroyed
  }

  get isAnswered(): boolean {
    return this.#isEnding || this.#response.writableEnded
  }

  override beginHandling(): void {
    super.beginHandling()
    if (this.connection.heads !== undefined) this.connection.heads.isInUse = true
  }

  override endHandling(): void {
    super.endHandling()
    if (this.connection.heads !== undefined) this.connection.heads.isInUse = false
  }

  writeHead(status: number, headers: Headers, { length, isEnd = false }: BodyForm): void {
    const all: { [name: string]: string | string[] | number } = {}
    // Copy lists of values, because the lists of an API response are immutable and Node's types
    // accept only mutable ones.
    for (const [name, value] of Object.entries(headers))
      all[name] = typeof value === 'string' ? value : [...value]
    if (length !== undefined) all['content-length'] = length
    // Announce no trailers to an HTTP/1.0 client: they require chunked encoding, which HTTP/1.0
    // does not have.
    if (this.#request.httpVersion === '1.0') delete all['trailer']
    // If a part of the request body is unread, close the connection after the response. That part
    // would otherwise precede the next request on the connection.
    const isRestUnread = !this.#request.complete && !this.#request.readableFlowing
    if (this.#isClosing() || (isRestUnread && this.hasBody)) all['connection'] = 'close'
    this.#response.writeHead(status, all)
    if (isEnd) this.end()
  }

  flushHead(): void {
    this.#response.flushHeaders()
  }

  write(parts: readonly Buffer[], onTaken: () => void): boolean {
    const response = this.#response
    if (response.destroyed) return true
    const left = pieces(parts)
    const first = left.next().value
    if (first === undefined) return true
    this.isWriting = true
    const taken = (): void => {
      if (!this.isWriting) return
      this.isWriting = false
      response.off('close', taken)
      onTaken()
    }
    const writePiece = (piece: Buffer | undefined): void => {
      if (piece === undefined || response.destroyed) return taken()
      if (!this.#turn.takes(piece.length))
        return this.#turn.later({ goOn: () => writePiece(piece) })
      response.write(piece, () => {
        this.progress += piece.length
        writePiece(left.next().value)
      })
    }
    response.once('close', taken)
    writePiece(first)
    return false
  }

  /** Ends the response. `isWriting` remains true until the exchange ends. */
  end(parts: readonly Buffer[] = []): void {
    const response = this.#response
    if (response.destroyed || this.isAnswered) return
    if (parts.reduce((sum, { length }) => sum + length, 0) > AT_ONCE_BYTES_MAX) {
      this.#isEnding = true
      this.write(parts, () => {
        if (!response.destroyed) response.end()
      })
      return
    }
    this.isWriting = true
    // The parts of a long list are written one by one, because joining them would double the
    // memory.
    for (const part of parts.length > TOGETHER_MAX ? parts : [together(parts)]) {
      response.write(part, () => {
        this.progress += part.length
      })
    }
    response.end()
  }

  /**
   * Ends the response with trailers. The trailers are omitted if the response has a Content-Length.
   */
  endWith(trailers: Headers): void {
    const lines = Object.entries(trailers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
    )
    if (!this.#response.destroyed) this.#response.addTrailers(lines)
    this.end()
  }

  abort(): void {
    this.#response.destroy()
  }
}

/**
 * Maximum number of bytes that are written at once. Longer responses are written in pieces, so that
 * the progress of a slow client can be measured.
 */
const AT_ONCE_BYTES_MAX = 256 * 1024
/** Maximum number of parts that are copied into a single write. */
const TOGETHER_MAX = 16

const together = (parts: readonly Buffer[]): Buffer => {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

/**
 * Returns the headers of a request. Node joins repeated headers into one, but some headers must not
 * be joined.
 */
export function headersOf(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  isKeptApart: (name: string) => boolean,
): IncomingHttpHeaders {
  let lines: ReadonlyMap<string, string[]> | undefined
  let apart: IncomingHttpHeaders | undefined
  for (const name in headers) {
    if (!isKeptApart(name)) continue
    lines ??= headerLines(rawHeaders)
    apart ??= { ...headers }
    apart[name] = lines.get(name)
  }
  return apart ?? headers
}

class RequestBody implements BodySource {
  readonly #request: IncomingMessage
  #listener: BodyListener | undefined

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  get hasBody(): boolean {
    const { headers } = this.#request
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  }

  read(listener: BodyListener): void {
    const request = this.#request
    this.#listener = listener
    if (request.readableEnded) listener.onEnd()
    else if (request.destroyed) listener.onClose()
    else request.on('data', this.#onData).on('end', listener.onEnd).on('close', listener.onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    const taken = this.#listener?.onData(chunk)
    if (taken === undefined) return
    this.#request.pause()
    void taken.then(() => this.#request.resume())
  }

  drop(): void {
    const request = this.#request
    const listener = this.#listener
    if (listener !== undefined)
      request.off('data', this.#onData).off('end', listener.onEnd).off('close', listener.onClose)
    request.pause()
  }
}
