/**
 * The output buffer of a connection. All frames of one tick of the event loop are collected in a
 * block of memory and sent in one write, because a TLS write costs more than producing most
 * responses. The bytes are copied into the block, so the caller can reuse its memory.
 */
import type { Duplex } from 'node:stream'
import { BLOCK_BYTES, type Blocks } from '../../lib/bytes/blocks.ts'
import { FRAME_HEAD_BYTES, type FrameHead } from './protocol.ts'
import type { Turn } from './turn.ts'

/**
 * While this many bytes wait for the socket, no more DATA is added. Four blocks are enough to keep
 * any network busy between two ticks.
 */
const FULL_BYTES = 4 * BLOCK_BYTES
/**
 * The limit that replaces `FULL_BYTES` while blocks are scarce, which happens if many connections
 * have data to send.
 */
const SCARCE_FULL_BYTES = BLOCK_BYTES / 2
/**
 * If this many bytes wait for the socket, nothing is read from it until fewer bytes wait. This
 * limit is needed because acknowledgments of PING and similar frames are sent even beyond
 * `FULL_BYTES`.
 */
const READ_NO_MORE_BYTES = 4 * FULL_BYTES
/** A DATA frame begins in a new block if the current block has less room than this. */
const SCRAP_BYTES = 512

type Block = {
  readonly bytes: Buffer
  filled: number
  /** Number of bytes that were passed to the socket. It is at most `filled`. */
  handed: number
}

export type OutputOptions = {
  readonly socket: Duplex
  readonly blocks: Blocks
  readonly turn: Turn
  /** Called before the write at the end of a tick, so that streams can add DATA. */
  readonly onTurn: () => void
  /** Called when the socket has completed a write. */
  readonly onWritten: () => void
}

export class Output {
  /** Number of bytes that the socket has not written yet. */
  bytes = 0
  /** Number of writes that the socket has completed. */
  writes = 0
  readonly #options: OutputOptions
  #block: Block
  /** Blocks that were filled while the socket was busy, in order. */
  #full: Block[] = []
  /**
   * The block that the socket is writing. The socket gets one write at a time, because TLS would
   * copy several writes into one.
   */
  #writing: Block | undefined
  #isAbandoned = false
  /** Whether bytes of earlier ticks still wait to be passed to the socket. */
  #isDue = false
  #isAwaited = false
  /**
   * Whether this output continues in a later tick, because the budget for long writes in this tick
   * is used up.
   */
  #isLate = false
  #isEnding = false

  constructor(options: OutputOptions) {
    this.#options = options
    this.#block = noBlock
  }

  get isFull(): boolean {
    return this.bytes >= (this.#options.blocks.areScarce ? SCARCE_FULL_BYTES : FULL_BYTES)
  }

  get isTooFullToRead(): boolean {
    return this.bytes >= READ_NO_MORE_BYTES
  }

  /**
   * Maximum payload that fits into the current block, or into the next one if the current block has
   * almost no room.
   */
  get room(): number {
    const room = BLOCK_BYTES - this.#block.filled - FRAME_HEAD_BYTES
    return room >= SCRAP_BYTES ? room : BLOCK_BYTES - FRAME_HEAD_BYTES
  }

  /** The buffer that contains the last frame. The caller writes the payload to it. */
  get memory(): Buffer {
    return this.#block.bytes
  }

  /** Adds bytes that are not a frame, such as the connection preface. */
  raw(bytes: Buffer): void {
    if (this.#block.filled + bytes.length > this.#block.bytes.length) this.#next()
    const block = this.#block
    block.filled += bytes.copy(block.bytes, block.filled)
    this.bytes += bytes.length
    this.wake()
  }

  /**
   * Begins a frame, and returns the position of its payload in `memory`. The caller must write the
   * payload before it calls another method.
   */
  frame(head: FrameHead): number {
    const bytes = FRAME_HEAD_BYTES + head.length
    if (this.#block.filled + bytes > this.#block.bytes.length) this.#next()
    const block = this.#block
    const at = block.filled
    writeFrameHead(block.bytes, at, head)
    block.filled += bytes
    this.bytes += bytes
    this.wake()
    return at + FRAME_HEAD_BYTES
  }

  /** Makes `turn` call `endTurn` at the end of this tick. */
  wake(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#options.turn.add(this)
  }

  /** Called by `Turn` at the end of the tick. */
  endTurn(): void {
    this.#isAwaited = false
    this.#options.onTurn()
    this.#isDue = true
    this.#hand()
  }

  /** Called by `Turn` when this output can continue a long write. */
  goOn(): void {
    this.#isLate = false
    this.#hand()
  }

  /** Ends the socket when everything is written. */
  end(): void {
    this.#isEnding = true
    this.wake()
  }

  /** Called when the socket is closed. Nothing is written after that. */
  abandon(): void {
    if (this.#isAbandoned) return
    this.#isAbandoned = true
    const held = new Set([
      ...this.#full,
      this.#block,
      ...(this.#writing === undefined ? [] : [this.#writing]),
    ])
    for (const block of held) if (block !== noBlock) this.#options.blocks.give(block.bytes)
    this.#full = []
    this.#block = noBlock
  }

  #next(): void {
    // The connection is closed. Use a new block, which is never sent.
    if (this.#isAbandoned) {
      this.#block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), filled: 0, handed: 0 }
      return
    }
    if (this.#block.handed < this.#block.filled) this.#full.push(this.#block)
    this.#block = { bytes: this.#options.blocks.take(), filled: 0, handed: 0 }
    this.#hand()
  }

  /** Passes the next bytes to the socket. */
  #hand(): void {
    if (this.#writing !== undefined || this.#isLate || this.#isAbandoned) return
    const block = this.#full[0] ?? this.#block
    const { socket, turn } = this.#options
    const isLast = block === this.#block
    if (block.handed < block.filled && (this.#isDue || !isLast) && socket.writable) {
      if (!turn.takes(block.filled - block.handed)) {
        this.#isLate = true
        return turn.later(this)
      }
      this.#full.shift()
      const bytes = block.bytes.subarray(block.handed, block.filled)
      block.handed = block.filled
      this.#writing = block
      socket.write(bytes, () => this.#onWritten(block, bytes.length))
    } else if (this.#isEnding && !this.#isAwaited) socket.end()
    if (isLast) this.#isDue = false
  }

  #onWritten(block: Block, bytes: number): void {
    this.#writing = undefined
    this.bytes -= bytes
    if (this.#isAbandoned) return
    this.writes++
    // Return the block, so that another connection can use it.
    if (block.handed === block.filled) {
      if (block === this.#block) this.#block = noBlock
      this.#options.blocks.give(block.bytes)
    }
    this.#hand()
    this.#options.onWritten()
  }
}

/** A block without memory, for idle connections. */
const noBlock: Block = { bytes: Buffer.alloc(0), filled: 0, handed: 0 }

/** Writes the nine-byte header of a frame. */
function writeFrameHead(
  into: Buffer,
  at: number,
  { length, type, flags, stream }: FrameHead,
): void {
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
