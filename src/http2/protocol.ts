/** The numbers of HTTP/2 (RFC 9113), and the two ways in which a peer can break it. */

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const SETTING = { enablePush: 2, streamsMax: 3, initialWindow: 4, frameBytesMax: 5, headerListMax: 6 } as const

export const CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const

export type Code = (typeof CODE)[keyof typeof CODE]

export const FRAME_HEAD_BYTES = 9
/** What a frame may hold unless its receiver has said otherwise, which we never do, and never make use of. */
export const FRAME_BYTES_MAX = 16_384
export const DEFAULT_WINDOW = 65_535
export const WINDOW_MAX = 0x7fffffff
export const STREAM_ID_MAX = 0x7fffffff

/** What a client sends first. */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** The peer has broken the protocol for the whole connection: it ends. */
export class ConnectionError extends Error {
  readonly code: Code

  constructor(code: Code, message: string) {
    super(message)
    this.code = code
  }
}

export type FrameHead = {
  readonly length: number
  readonly type: number
  readonly flags: number
  /** Zero for frames about the connection. */
  readonly stream: number
}

/** Writes the nine bytes ahead of a frame's content. */
export function writeFrameHead(into: Buffer, at: number, { length, type, flags, stream }: FrameHead): void {
  into[at] = length >>> 16
  into[at + 1] = length >>> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flags
  into[at + 5] = stream >>> 24
  into[at + 6] = stream >>> 16
  into[at + 7] = stream >>> 8
  into[at + 8] = stream
}

export function writeUint32(into: Buffer, at: number, value: number): void {
  into[at] = value >>> 24
  into[at + 1] = value >>> 16
  into[at + 2] = value >>> 8
  into[at + 3] = value
}

export function readUint32(from: Buffer, at: number): number {
  return (
    (byte(from, at) * 0x1000000 + (byte(from, at + 1) << 16) + (byte(from, at + 2) << 8) + byte(from, at + 3)) >>> 0
  )
}

export const byte = (from: Buffer, at: number): number => from[at] ?? 0
