/** The constants of HTTP/2 (RFC 9113), its connection errors and frame headers. */

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

export const FLAG = {
  ACK: 0x1,
  END_STREAM: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

export const CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const

export type Code = (typeof CODE)[keyof typeof CODE]

/** Returns the name of an error code as in RFC 9113, section 7, for the log. */
export const codeName = (code: number): string =>
  Object.entries(CODE).find(([, number]) => number === code)?.[0] ?? `${code}`

export const FRAME_HEAD_BYTES = 9
/**
 * Default of SETTINGS_MAX_FRAME_SIZE. This code announces no other value, and never sends longer
 * frames.
 */
export const FRAME_BYTES_MAX = 16_384
export const DEFAULT_WINDOW = 65_535
export const WINDOW_MAX = 0x7fffffff
export const STREAM_ID_MAX = 0x7fffffff

/** The connection preface of a client. */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/**
 * A connection error (RFC 9113, 5.4.1). The peer gets GOAWAY with this code, and the connection is
 * closed.
 */
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
  /** Stream ID, or 0 for frames that apply to the connection. */
  readonly stream: number
}
