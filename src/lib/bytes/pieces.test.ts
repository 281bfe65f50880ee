import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PIECE_BYTES, pieces } from './pieces.ts'

test('a body is cut into pieces that contain all of its bytes, and no piece is too long or empty', () => {
  for (const lengths of [
    [],
    [0],
    [1],
    [PIECE_BYTES],
    [PIECE_BYTES - 1, 1, 1],
    [3 * PIECE_BYTES + 7, 0, 5],
    [1, PIECE_BYTES],
  ]) {
    const parts = lengths.map((length, n) => Buffer.alloc(length, n + 1))
    const cut = [...pieces(parts)]
    assert.deepEqual(Buffer.concat(cut), Buffer.concat(parts), lengths.join())
    assert.ok(cut.every(({ length }) => length > 0 && length <= PIECE_BYTES))
  }
})

test('a buffer that fills a whole piece is not copied, and other buffers are copied only when their piece is read', () => {
  const first = Buffer.alloc(10)
  const [only] = pieces([first])
  assert.equal(only, first)
  const later = Buffer.alloc(10)
  const cut = pieces([Buffer.alloc(PIECE_BYTES), later, later])
  cut.next()
  later.fill(7)
  assert.deepEqual(cut.next().value, Buffer.alloc(20, 7))
})
