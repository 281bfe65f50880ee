/**
 * The output buffer of a connection. All frames of one turn of the event loop are gathered in a
 * block of memory and sent in one write: handing a write to TLS costs more than making most
 * answers. Bytes are copied once, into the block; the caller may reuse its memory.
 */
import type { Duplex } from 'node:stream'
import { BLOCK_BYTES, type Blocks } from '../../lib/bytes/blocks.ts'
import { FRAME_HEAD_BYTES, type FrameHead, writeFrameHead } from './protocol.ts'
import type { Turn } from './turn.ts'

/**
 * With this much waiting for the socket no more DATA is added: four blocks keep any network busy
 * between two turns, …
 */
const FULL_BYTES = 4 * BLOCK_BYTES
/** … and one has to be enough while many connections have something to send. */
const SCARCE_FULL_BYTES = BLOCK_BYTES / 2
/**
 * Answers to PING and the like are still added then; beyond this the socket is not read any more.
 */
const READ_NO_MORE_BYTES = 4 * FULL_BYTES
/** With less room than this in a block no DATA frame is begun in it. */
const SCRAP_BYTES = 512

type Block = {
  readonly bytes: Buffer
  filled: number
  /** How much of `filled` the socket has been given. */
  handed: number
}

export type OutputOptions = {
  readonly socket: Duplex
  readonly blocks: Blocks
  readonly turn: Turn
  /** Called before the write at the end of a turn: streams may add DATA. */
  readonly onTurn: () => void
  /** The socket has completed a write. */
  readonly onWritten: () => void
}

export class Output {
  /** Bytes that the socket has not written yet. */
  bytes = 0
  /** How many writes the socket has completed. */
  writes = 0
  readonly #options: OutputOptions
  #block: Block
  /** Blocks that were filled while the socket was busy, in their order. */
  #full: Block[] = []
  /**
   * The block that the socket writes. It has one write at a time: given several, TLS would copy
   * them into one.
   */
  #writing: Block | undefined
  #isAbandoned = false
  /** A turn has ended, and its bytes are still to be handed to the socket. */
  #isDue = false
  #isAwaited = false
  /** The bytes of this turn were sent; it goes on in a later one. */
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
   * The longest payload that fits into the block that is being filled, or into the next one if that
   * has hardly any room.
   */
  get room(): number {
    const room = BLOCK_BYTES - this.#block.filled - FRAME_HEAD_BYTES
    return room >= SCRAP_BYTES ? room : BLOCK_BYTES - FRAME_HEAD_BYTES
  }

  /** The memory that the payload of the last frame is written to. */
  get memory(): Buffer {
    return this.#block.bytes
  }

  /** Adds bytes that are no frame: the connection preface. */
  raw(bytes: Buffer): void {
    if (this.#block.filled + bytes.length > this.#block.bytes.length) this.#next()
    const block = this.#block
    block.filled += bytes.copy(block.bytes, block.filled)
    this.bytes += bytes.length
    this.wake()
  }

  /**
   * Begins a frame. Its payload is to be written to `memory` at once, from the returned position.
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

  /** Makes `endTurn` be called at the end of this turn. */
  wake(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#options.turn.add(this)
  }

  /** Called by the turn. */
  endTurn(): void {
    this.#isAwaited = false
    this.#options.onTurn()
    this.#isDue = true
    this.#hand()
  }

  /** Called by the turn, when it is this one's turn to send a long write. */
  goOn(): void {
    this.#isLate = false
    this.#hand()
  }

  /** Ends the socket when everything is written. */
  end(): void {
    this.#isEnding = true
    this.wake()
  }

  /** The socket is closed: nothing is written any more. */
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
    // Whatever is still added is for nobody.
    if (this.#isAbandoned) {
      this.#block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), filled: 0, handed: 0 }
      return
    }
    if (this.#block.handed < this.#block.filled) this.#full.push(this.#block)
    this.#block = { bytes: this.#options.blocks.take(), filled: 0, handed: 0 }
    this.#hand()
  }

  /** Hands the next bytes to the socket. */
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
    // The block is not used any more: another connection can have it.
    if (block.handed === block.filled) {
      if (block === this.#block) this.#block = noBlock
      this.#options.blocks.give(block.bytes)
    }
    this.#hand()
    this.#options.onWritten()
  }
}

/** An idle connection holds no memory. */
const noBlock: Block = { bytes: Buffer.alloc(0), filled: 0, handed: 0 }
