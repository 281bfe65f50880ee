/**
 * A watch over a WebSocket (RFC 6455), which is how browsers follow one: each event is a message, text for JSON and binary
 * for protobuf. What the client says is read over, but for a ping and the end.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse, FrameSource } from '../api/request.ts'

/** What RFC 6455 section 4.2.2 adds to the key of the client. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10
/** Of frames that speak about the connection, RFC 6455 section 5.5. */
const CONTROL_BYTES_MAX = 125

export const asksForWebSocket = ({ headers }: ApiRequest): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' &&
  headers['sec-websocket-key'] !== undefined &&
  /(^|,)\s*upgrade\s*(,|$)/i.test(headers.connection ?? '')

export function overWebSocket(http: ApiRequest, frames: FrameSource, form: 'json' | 'protobuf'): ApiResponse {
  const key = http.headers['sec-websocket-key'] ?? ''
  const headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': createHash('sha1').update(`${key}${GUID}`).digest('base64'),
  }
  return { status: 101, headers, tunnel: (socket) => pump(socket, frames, form) }
}

/** No faster than the client reads; what comes of a source that nobody follows any more is dropped until its end. */
function pump(socket: Duplex, frames: FrameSource, form: 'json' | 'protobuf'): void {
  const opcode = form === 'json' ? TEXT : BINARY
  let isFull = false
  const go = (): void => {
    isFull = false
    for (;;) {
      const parts = frames.take()
      if (parts === undefined) return void (socket.destroyed || socket.end(frame(CLOSE, Buffer.alloc(0))))
      if (parts.length === 0) return frames.onReady(go)
      if (socket.destroyed) continue
      const messages = events(Buffer.concat(parts), form).map((event) => frame(opcode, event))
      isFull = !socket.write(Buffer.concat(messages))
      if (isFull) return void socket.once('drain', go)
    }
  }
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    frames.close()
    if (isFull) go()
  })
  listen(socket)
  go()
}

/** Events are framed for a stream: JSON by its lines, protobuf by lengths before it. */
function events(bytes: Buffer, form: 'json' | 'protobuf'): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const from = form === 'json' ? at : at + 4
    const to = form === 'json' ? bytes.indexOf(0x0a, at) + 1 || bytes.length : from + bytes.readUInt32BE(at)
    found.push(bytes.subarray(from, to))
    at = to
  }
  return found
}

/** A whole message of a server, which is not masked. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length <= CONTROL_BYTES_MAX) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload])
  if (length < 1 << 16) return Buffer.concat([Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]), payload])
  const head = Buffer.alloc(10)
  head.writeUInt8(0x80 | opcode, 0)
  head.writeUInt8(127, 1)
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

/** Long enough for the head of a frame (14 bytes) and what a ping may say: nothing more is ever kept. */
function listen(socket: Duplex): void {
  let held: Buffer = Buffer.alloc(0)
  let skip = 0
  socket.on('data', (chunk: Buffer) => {
    let bytes = chunk.subarray(Math.min(skip, chunk.length))
    skip -= chunk.length - bytes.length
    bytes = Buffer.concat([held, bytes])
    while (bytes.length > 0) {
      const read = readControl(bytes)
      if (read === undefined) break
      if (read.opcode === CLOSE) return void socket.end(frame(CLOSE, read.payload))
      if (read.opcode === PING) socket.write(frame(PONG, read.payload))
      skip = Math.max(read.end - bytes.length, 0)
      bytes = bytes.subarray(Math.min(read.end, bytes.length))
    }
    held = bytes
  })
}

/** Undefined: more has to come. The payload is only of frames that speak about the connection. */
function readControl(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined
  const opcode = bytes.readUInt8(0) & 0x0f
  const short = bytes.readUInt8(1) & 0x7f
  const maskAt = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < maskAt + 4) return undefined
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const end = maskAt + 4 + length
  if (opcode < CLOSE) return { opcode, payload: Buffer.alloc(0), end }
  // A frame about the connection that is longer than any may be ends it.
  if (length > CONTROL_BYTES_MAX) return { opcode: CLOSE, payload: Buffer.alloc(0), end }
  if (bytes.length < end) return undefined
  const mask = bytes.subarray(maskAt, maskAt + 4)
  const payload = Buffer.from(bytes.subarray(maskAt + 4, end)).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  return { opcode, payload: Buffer.from(payload), end }
}
