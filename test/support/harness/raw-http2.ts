/**
 * An HTTP/2 client that sends arbitrary bytes and stores the frames that it receives. It sends
 * nothing on its own.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { PATIENCE_MS } from './until.ts'

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const
export const END_STREAM = 0x1
export const ACK = 0x1
export const END_HEADERS = 0x4
export const PADDED = 0x8
export const WITH_PRIORITY = 0x20
export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
} as const

export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const none = Buffer.alloc(0)

export function frame(type: number, flags: number, stream: number, payload: Buffer = none): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream >>> 0, 5)
  return Buffer.concat([head, payload])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/**
 * Encodes an integer in HPACK's format (RFC 7541, section 5.1). `prefix` is the largest value of
 * the prefix, and `first` contains the bits of the first byte that precede the prefix.
 */
export function integer(value: number, prefix: number, first = 0): Buffer {
  if (value < prefix) return Buffer.from([first | value])
  const bytes = [first | prefix]
  let rest = value - prefix
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}

const text = (value: string): Buffer =>
  Buffer.concat([integer(Buffer.byteLength(value, 'latin1'), 0x7f), Buffer.from(value, 'latin1')])

/** Encodes a header field in HPACK's format, neither compressed nor added to the dynamic table. */
export const field = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0]), text(name), text(value)])

/** Encodes a header field in HPACK's format, which the server adds to its dynamic table. */
export const indexedField = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x40]), text(name), text(value)])

/** Encodes a field block. Names and values are sent unchanged, even if they are invalid. */
export const block = (...fields: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(fields.map(([name, value]) => field(name, value)))

/** Encodes the fields that every request has, followed by the given fields. */
export const requestFields = (method: string, path: string, ...more: readonly Buffer[]): Buffer =>
  Buffer.concat([
    block([':method', method], [':scheme', 'https'], [':path', path], [':authority', '127.0.0.1']),
    ...more,
  ])

export const headersFrame = (
  stream: number,
  fields: Buffer,
  flags: number = END_STREAM | END_HEADERS,
): Buffer => frame(FRAME.HEADERS, flags, stream, fields)

export const settings = (...entries: readonly (readonly [id: number, value: number])[]): Buffer => {
  const payload = Buffer.alloc(6 * entries.length)
  for (const [at, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(id, 6 * at)
    payload.writeUInt32BE(value, 6 * at + 2)
  }
  return frame(FRAME.SETTINGS, 0, 0, payload)
}

export const reset = (stream: number, code: number): Buffer =>
  frame(FRAME.RST_STREAM, 0, stream, uint32(code))

/** Encodes a field block of any length as the required number of frames. */
export function longHeaders(
  stream: number,
  fields: Buffer,
  { frameBytes = 16_384, isEnd = true } = {},
): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at < fields.length; at += frameBytes) {
    const flags = at + frameBytes >= fields.length && isEnd ? END_HEADERS : 0
    const part = fields.subarray(at, at + frameBytes)
    frames.push(
      at === 0
        ? headersFrame(stream, part, flags | END_STREAM)
        : frame(FRAME.CONTINUATION, flags, stream, part),
    )
  }
  return Buffer.concat(frames)
}

export type ReceivedFrame = {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export class RawHttp2 implements Disposable {
  readonly socket: TLSSocket
  readonly received: ReceivedFrame[] = []
  #rest: Buffer = none
  #isOver = false
  #wake: (() => void) | undefined

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => {
      this.#isOver = true
      this.#wake?.()
    })
  }

  /** Resolves after the TLS handshake. Sends the preface and SETTINGS, or `first` instead. */
  static async open(
    port: number,
    first: Buffer = Buffer.concat([preface, settings()]),
  ): Promise<RawHttp2> {
    const socket = connect({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    })
    await once(socket, 'secureConnect')
    socket.setNoDelay(true)
    const client = new RawHttp2(socket)
    socket.write(first)
    return client
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when the socket has accepted the bytes or is closed. */
  async send(...bytes: readonly Buffer[]): Promise<void> {
    if (this.#isOver || !this.socket.writable) return
    await new Promise<void>((resolve) => {
      this.socket.once('close', resolve)
      this.socket.write(Buffer.concat(bytes), () => {
        this.socket.off('close', resolve)
        resolve()
      })
    })
  }

  /**
   * Returns the first matching frame, or undefined if the connection ends or the timeout expires
   * first.
   */
  async until(
    fits: (frame: ReceivedFrame) => boolean,
    timeoutMs = PATIENCE_MS,
  ): Promise<ReceivedFrame | undefined> {
    const untilMs = performance.now() + timeoutMs
    for (;;) {
      const found = this.received.find(fits)
      const leftMs = untilMs - performance.now()
      if (found !== undefined || this.#isOver || leftMs <= 0) return found
      await this.#news(leftMs)
    }
  }

  /** Returns the error code of the GOAWAY frame that the server sends. */
  async goawayCode(timeoutMs = PATIENCE_MS): Promise<number | undefined> {
    return (await this.until(({ type }) => type === FRAME.GOAWAY, timeoutMs))?.payload.readUInt32BE(
      4,
    )
  }

  /** Returns the error code with which the server resets a stream. */
  async resetCode(stream: number, timeoutMs = PATIENCE_MS): Promise<number | undefined> {
    const found = await this.until(
      (one) => one.type === FRAME.RST_STREAM && one.stream === stream,
      timeoutMs,
    )
    return found?.payload.readUInt32BE(0)
  }

  /** Returns whether the server closes the connection within this time. */
  async closed(timeoutMs = PATIENCE_MS): Promise<boolean> {
    await this.until(() => false, timeoutMs)
    return this.#isOver
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #news(timeoutMs: number): Promise<void> {
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return Promise.race([news, sleep(timeoutMs, undefined, { ref: false })])
  }

  #read(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk])
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3)
      const [type = 0, flags = 0] = bytes.subarray(3, 5)
      this.received.push({
        type,
        flags,
        stream: bytes.readUInt32BE(5) & 0x7fffffff,
        payload: bytes.subarray(9, end),
      })
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
    this.#wake?.()
  }
}
