/**
 * Serves a watch over a WebSocket (RFC 6455), which browsers use. Each event is one message: text
 * for JSON, binary for protobuf. Messages from the client are ignored, except for pings and close
 * frames. A protocol error closes the connection.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse, FrameSource } from '../../api/request.ts'
import { PIECE_BYTES } from '../../lib/bytes/pieces.ts'

/** RFC 6455, section 4.2.2, requires this suffix to be appended to the client's key. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10
const opcodes: ReadonlySet<number> = new Set([0, TEXT, BINARY, CLOSE, PING, PONG])
/** Maximum payload of control frames (RFC 6455 section 5.5). */
const CONTROL_BYTES_MAX = 125
/** Payload of a close frame with status code 1002 (RFC 6455 section 7.4.1). */
const protocolError = Buffer.from([1002 >> 8, 1002 & 0xff])
/**
 * Time after which a client that reads nothing is considered disconnected. The HTTP listener
 * applies the same limit to other responses.
 */
const STALL_MS_MAX = 60_000
/**
 * Memory for a batch that the client has not read yet, as a multiple of its size. This memory
 * consists of the batch itself, the events from which it was copied, and the encrypted copy for
 * TLS.
 */
const UNSENT_HELD_TIMES = 3
/** Time that a client has to read the close frame and to close its side of the connection. */
const CLOSE_MS_MAX = 5_000

export const asksForWebSocket = ({ headers }: ApiRequest): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' &&
  headers['sec-websocket-key'] !== undefined &&
  /(^|,)\s*upgrade\s*(,|$)/i.test(headers.connection ?? '')

export function overWebSocket(
  http: ApiRequest,
  frames: FrameSource,
  form: 'json' | 'protobuf',
): ApiResponse {
  const key = http.headers['sec-websocket-key'] ?? ''
  const headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': createHash('sha1').update(`${key}${GUID}`).digest('base64'),
  }
  const tunnel = (socket: Duplex): void => pump(socket, frames, { form, hold: holdMost(http) })
  return { status: 101, headers, tunnel, close: () => frames.close() }
}

/**
 * Reserves memory for the longest batch so far. A shorter batch needs no further memory. The
 * returned function returns false if not enough memory is available.
 */
function holdMost(http: ApiRequest): (batchBytes: number) => boolean {
  let heldBytes = 0
  return (batchBytes) => {
    const more = UNSENT_HELD_TIMES * batchBytes - heldBytes
    if (more <= 0) return true
    if (http.hold?.(more) === false) return false
    heldBytes += more
    return true
  }
}

type Pumping = {
  readonly form: 'json' | 'protobuf'
  readonly hold: (batchBytes: number) => boolean
}

/** Sends frames only as fast as the client reads them. */
function pump(socket: Duplex, frames: FrameSource, { form, hold }: Pumping): void {
  let unsent = batches([], form)
  let stalling: NodeJS.Timeout | undefined
  const go = (): void => {
    try {
      goOn()
    } catch {
      // An object that cannot be decoded ends the watch, as in a streamed watch. The error is
      // handled here because no caller would catch it.
      frames.close()
      socket.destroy()
    }
  }
  const goOn = (): void => {
    clearTimeout(stalling)
    stalling = undefined
    for (;;) {
      // The client has disconnected. Do not read the remaining events, because there can be many.
      if (!socket.writable) return frames.close()
      const { value: piece } = unsent.next()
      if (piece === undefined) {
        const parts = frames.take()
        if (parts === undefined) return close(socket)
        if (parts.length === 0) return frames.onReady(go)
        unsent = batches(parts, form)
        continue
      }
      if (socket.write(piece)) continue
      // The client reads slowly, and not enough memory is available for the unsent frames.
      if (!hold(piece.length)) return void socket.destroy()
      stalling = setTimeout(() => socket.destroy(), STALL_MS_MAX).unref()
      return void socket.once('drain', go)
    }
  }
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    frames.close()
    if (stalling !== undefined) go()
  })
  listen(socket, (payload) => {
    close(socket, payload)
    frames.close()
  })
  go()
}

/**
 * Sends the close frame. If the client does not close the connection afterwards, it is
 * disconnected.
 */
function close(socket: Duplex, payload?: Buffer): void {
  if (!socket.writable) return
  socket.end(frame(CLOSE, payload ?? Buffer.alloc(0)))
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS_MAX).unref()
  socket.once('close', () => clearTimeout(timer))
}

/**
 * Copies frames into batches. Frames are shared with other watches. Therefore they are copied only
 * when the client reads, one batch at a time. A batch ends at the end of a message, because a pong
 * can follow it.
 */
function* batches(
  parts: readonly Buffer[],
  form: 'json' | 'protobuf',
): Generator<Buffer, undefined, undefined> {
  const opcode = form === 'json' ? TEXT : BINARY
  let held: Buffer[] = []
  let heldBytes = 0
  for (const part of parts) {
    for (const event of events(part, form)) {
      held.push(frameHead(opcode, event.length), event)
      heldBytes += event.length
      if (heldBytes < PIECE_BYTES) continue
      yield Buffer.concat(held)
      held = []
      heldBytes = 0
    }
  }
  if (held.length > 0) yield Buffer.concat(held)
}

/**
 * Splits a stream's frames into events. JSON is delimited by newlines, and protobuf has length
 * prefixes.
 */
function events(bytes: Buffer, form: 'json' | 'protobuf'): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const from = form === 'json' ? at : at + 4
    const to =
      form === 'json' ? bytes.indexOf(0x0a, at) + 1 || bytes.length : from + bytes.readUInt32BE(at)
    found.push(bytes.subarray(from, to))
    at = to
  }
  return found
}

/** Encodes an unfragmented message. A server does not mask its frames. */
const frame = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([frameHead(opcode, payload.length), payload])

function frameHead(opcode: number, length: number): Buffer {
  if (length <= CONTROL_BYTES_MAX) return Buffer.from([0x80 | opcode, length])
  if (length < 1 << 16) return Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff])
  const head = Buffer.alloc(10)
  head.writeUInt8(0x80 | opcode, 0)
  head.writeUInt8(127, 1)
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

/**
 * Reads the client's frames. When the client sends a close frame or violates the protocol, calls
 * `onEnd` with the payload of the close frame to send back. No input is read after that.
 */
function listen(socket: Duplex, onEnd: (payload: Buffer) => void): void {
  /**
   * The beginning of an incomplete frame: at most its header (14 bytes) and the payload of a
   * control frame.
   */
  let held: Buffer = Buffer.alloc(0)
  let skip = 0
  /**
   * The latest ping that has not been answered. Earlier pings need no pong (RFC 6455, section
   * 5.5.3). Otherwise, pongs would accumulate for a client that does not read.
   */
  let ping: Buffer | undefined
  const pong = (): void => {
    if (ping === undefined || !socket.writable || socket.writableNeedDrain) return
    const payload = ping
    ping = undefined
    socket.write(frame(PONG, payload))
  }
  const onData = (chunk: Buffer): void => {
    const unread = chunk.subarray(Math.min(skip, chunk.length))
    skip -= chunk.length - unread.length
    let bytes = held.length === 0 ? unread : Buffer.concat([held, unread])
    while (bytes.length > 0) {
      const read = readFrame(bytes)
      if (read === 'partial') break
      if (read === 'fault' || read.opcode === CLOSE) {
        // Discard the rest of the input, so that the end of the connection is detected.
        socket.off('data', onData).resume()
        return onEnd(read === 'fault' ? protocolError : read.payload)
      }
      if (read.opcode === PING) ping = read.payload
      skip = Math.max(read.end - bytes.length, 0)
      bytes = bytes.subarray(Math.min(read.end, bytes.length))
    }
    // Copy the remaining bytes, because a slice of a few bytes would keep the whole chunk in
    // memory.
    held = Buffer.from(bytes)
    pong()
  }
  socket.on('drain', pong)
  socket.on('data', onData)
}

/**
 * Decodes the frame at the beginning of the bytes. Control frames are returned with their payload.
 * The payload of other frames is skipped.
 */
function readFrame(
  bytes: Buffer,
):
  | { readonly opcode: number; readonly payload: Buffer; readonly end: number }
  | 'partial'
  | 'fault' {
  if (bytes.length < 2) return 'partial'
  const first = bytes.readUInt8(0)
  const second = bytes.readUInt8(1)
  const opcode = first & 0x0f
  const short = second & 0x7f
  const isControl = opcode >= CLOSE
  // Reserved bits without a negotiated extension, unmasked frames and unknown opcodes are protocol
  // errors (RFC 6455 sections 5.1 and 5.2).
  if ((first & 0x70) !== 0 || (second & 0x80) === 0 || !opcodes.has(opcode)) return 'fault'
  // Control frames must be short and unfragmented (RFC 6455 section 5.5).
  if (isControl && ((first & 0x80) === 0 || short > CONTROL_BYTES_MAX)) return 'fault'
  const maskAt = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < maskAt + 4) return 'partial'
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const end = maskAt + 4 + length
  if (!isControl) return { opcode, payload: Buffer.alloc(0), end }
  if (bytes.length < end) return 'partial'
  const mask = bytes.subarray(maskAt, maskAt + 4)
  const payload = Buffer.from(bytes.subarray(maskAt + 4, end)).map(
    (byte, at) => byte ^ (mask[at % 4] ?? 0),
  )
  return { opcode, payload: Buffer.from(payload), end }
}
