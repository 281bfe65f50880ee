/**
 * What a connection has to say. All frames of one turn of the event loop are gathered in a block of memory and leave in one
 * write: handing a write to TLS costs more than making most answers. Bytes are copied once, into the block; whoever gave
 * them may use their memory again.
 */
import type { Socket } from 'node:net'
import { BLOCK_BYTES, type Blocks } from '../lib/blocks.ts'
import { FRAME_HEAD_BYTES, type FrameHead, writeFrameHead } from './protocol.ts'

/** With this much on its way to the socket no body goes on: four blocks keep any network busy between two turns. */
const FULL_BYTES = 4 * BLOCK_BYTES
/** Only answers to PING and the like go on then; beyond this nothing is read any more. */
const READ_NO_MORE_BYTES = 4 * FULL_BYTES
/** What is left of a block when it is not worth beginning another frame in it. */
const SCRAP_BYTES = 512

/** The end of a turn, at which outputs write, all together. */
export class Turn {
  #waiting: Output[] = []

  add(output: Output): void {
    if (this.#waiting.length === 0) setImmediate(this.#end)
    this.#waiting.push(output)
  }

  readonly #end = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const output of waiting) output.endTurn()
  }
}

type Block = {
  readonly bytes: Buffer
  filled: number
  /** Of `filled`, what the socket has been given. */
  handed: number
}

export type OutputParts = {
  readonly socket: Socket
  readonly blocks: Blocks
  readonly turn: Turn
  /** Before the write at the end of a turn: bodies may go on. */
  readonly onTurn: () => void
  /** The socket has taken something. */
  readonly onWritten: () => void
}

export class Output {
  /** What the socket has not got rid of. */
  bytes = 0
  /** How often it got rid of some. */
  writes = 0
  readonly #parts: OutputParts
  #block: Block
  /** Blocks that were filled while the socket was busy, in their order. */
  #full: Block[] = []
  /** The socket has one write at a time: given several, TLS would copy them into one. */
  #isWriting = false
  /** A turn has ended while the socket was busy. */
  #isDue = false
  #isAwaited = false
  #isEnding = false

  constructor(parts: OutputParts) {
    this.#parts = parts
    this.#block = noBlock
  }

  get isFull(): boolean {
    return this.bytes >= FULL_BYTES
  }

  get isTooFullToRead(): boolean {
    return this.bytes >= READ_NO_MORE_BYTES
  }

  /** How long a frame may be so that the block that is being filled has room for it. */
  get room(): number {
    const room = BLOCK_BYTES - this.#block.filled - FRAME_HEAD_BYTES
    return room >= SCRAP_BYTES ? room : BLOCK_BYTES - FRAME_HEAD_BYTES
  }

  /** What the content of the last frame is written to. */
  get memory(): Buffer {
    return this.#block.bytes
  }

  /** Bytes that are no frame. */
  raw(bytes: Buffer): void {
    if (this.#block.filled + bytes.length > this.#block.bytes.length) this.#next()
    const block = this.#block
    block.filled += bytes.copy(block.bytes, block.filled)
    this.bytes += bytes.length
    this.wake()
  }

  /** Begins a frame. Its content is to be written to `memory` at once, from where this says. */
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

  /** There will be an end of this turn. */
  wake(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#parts.turn.add(this)
  }

  endTurn(): void {
    this.#isAwaited = false
    this.#parts.onTurn()
    this.#isDue = true
    this.#hand()
  }

  /** The socket ends when it has all. */
  end(): void {
    this.#isEnding = true
    this.wake()
  }

  #next(): void {
    if (this.#block.handed < this.#block.filled) this.#full.push(this.#block)
    this.#block = { bytes: this.#parts.blocks.take(), filled: 0, handed: 0 }
    this.#hand()
  }

  /** Gives the socket the next that is there for it. */
  #hand(): void {
    if (this.#isWriting) return
    const block = this.#full.shift() ?? this.#block
    const { socket } = this.#parts
    const isLast = block === this.#block
    if (block.handed < block.filled && (this.#isDue || !isLast) && socket.writable) {
      const bytes = block.bytes.subarray(block.handed, block.filled)
      block.handed = block.filled
      this.#isWriting = true
      socket.write(bytes, () => this.#onWritten(block, bytes.length))
    } else if (this.#isEnding && !this.#isAwaited) socket.end()
    if (isLast) this.#isDue = false
  }

  #onWritten(block: Block, bytes: number): void {
    this.#isWriting = false
    this.bytes -= bytes
    this.writes++
    // Nobody reads the block any more: it is for the next who has something to say.
    if (block.handed === block.filled) {
      if (block === this.#block) this.#block = noBlock
      this.#parts.blocks.give(block.bytes)
    }
    this.#hand()
    this.#parts.onWritten()
  }
}

/** A connection that is quiet holds no memory. */
const noBlock: Block = { bytes: Buffer.alloc(0), filled: 0, handed: 0 }
