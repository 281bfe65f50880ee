import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BLOCK_BYTES, Blocks } from '../../lib/bytes/blocks.ts'
import { AnswerBody, type BodyOrigin } from './answer-body.ts'

/** Counts all memory blocks that were created so far, and those that are in use. */
class CountedBlocks extends Blocks {
  readonly made = new Set<Buffer>()
  inUse = 0

  override take(): Buffer {
    this.inUse++
    const block = super.take()
    this.made.add(block)
    return block
  }

  override give(block: Buffer): void {
    this.inUse--
    super.give(block)
  }

  override drop(count: number): void {
    this.inUse -= count
    super.drop(count)
  }
}

function bodyWith(origin: Partial<BodyOrigin> = {}): { body: AnswerBody; blocks: CountedBlocks } {
  const blocks = new CountedBlocks()
  return { body: new AnswerBody({ cancel: () => undefined, ...origin }, blocks), blocks }
}

const textOf = (parts: readonly Buffer[] | undefined): string => (parts ?? []).map(String).join('')

test('many one-byte chunks of a response body are stored in one block of memory', () => {
  let pauses = 0
  const { body, blocks } = bodyWith({ pause: () => pauses++ })
  const chunk = Buffer.from('x')
  for (let bytes = 0; bytes < BLOCK_BYTES - 1; bytes++) body.push(chunk)
  assert.equal(pauses, 0)
  assert.equal(blocks.made.size, 1)
  body.push(chunk)
  assert.equal(pauses, 1)
  const taken = body.take() ?? []
  assert.ok(taken.length <= 3, `${taken.length} parts`)
  assert.equal(textOf(taken), 'x'.repeat(BLOCK_BYTES))
})

test('a long response reuses a few blocks of memory, and is correct even if the memory of its chunks is overwritten', () => {
  const { body, blocks } = bodyWith()
  const chunk = Buffer.alloc(16 * 1024)
  for (let round = 0; round < 100; round++) {
    for (let at = 0; at < 6; at++) {
      chunk.fill(`${(round + at) % 10}`)
      body.push(chunk)
    }
    const digits = Array.from({ length: 6 }, (_, at) => `${(round + at) % 10}`.repeat(chunk.length))
    assert.equal(textOf(body.take()), digits.join(''))
  }
  assert.ok(blocks.made.size <= 4, `${blocks.made.size} blocks`)
  body.end()
  assert.equal(body.take(), undefined)
  assert.equal(blocks.inUse, 0)
})

test('when more of a response body is read, the source of the body learns how many bytes were sent to the client', () => {
  const given: number[] = []
  const { body } = bodyWith({ giveBack: (bytes) => given.push(bytes) })
  body.push(Buffer.alloc(100))
  body.take()
  assert.deepEqual(given, [])
  body.push(Buffer.alloc(20_000))
  body.take()
  body.take()
  assert.deepEqual(given, [100, 20_000])
})

test('memory of a response body is not reused while the body might still be read', () => {
  const { body, blocks } = bodyWith()
  body.push(Buffer.alloc(BLOCK_BYTES, 'a'))
  const sent = body.take()
  body.push(Buffer.alloc(BLOCK_BYTES, 'b'))
  body.close()
  assert.equal(blocks.inUse, 0)
  blocks.take().fill('c')
  blocks.take().fill('c')
  assert.equal(textOf(sent), 'a'.repeat(BLOCK_BYTES))
  const { body: whole, blocks: others } = bodyWith()
  whole.push(Buffer.alloc(20_000, 'd'))
  whole.end()
  const kept = whole.takeWhole()
  whole.close()
  others.take().fill('e')
  assert.equal(textOf(kept), 'd'.repeat(20_000))
  assert.equal(others.inUse, 1)
})

test('a response that is shorter or longer than its announced length fails', () => {
  const { body: short } = bodyWith()
  short.expect('3')
  short.push(Buffer.from('ab'))
  short.end()
  assert.equal(textOf(short.take()), 'ab')
  assert.throws(() => short.take(), /unexpected EOF/)
  let isCancelled = false
  const { body: long } = bodyWith({ cancel: () => (isCancelled = true) })
  long.expect('3')
  long.push(Buffer.from('abcd'))
  assert.throws(() => long.take(), /longer than its length/)
  assert.equal(isCancelled, true)
})
