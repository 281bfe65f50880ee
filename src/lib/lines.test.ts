import assert from 'node:assert/strict'
import test from 'node:test'
import { Lines } from './lines.ts'

test('who wants the same goes one after the other, in order', async () => {
  const lines = new Lines()
  const seen: string[] = []
  const go = async (name: string, line: string): Promise<void> => {
    using turn = await lines.enter(line, 1000)
    assert.ok(turn)
    seen.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(`${name} ends`)
  }
  await Promise.all([go('a', 'x'), go('b', 'x'), go('c', 'x')])
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('who waits too long goes on, and the line stays in order', async () => {
  const lines = new Lines()
  const first = await lines.enter('x', 1000)
  using impatient = await lines.enter('x', 1)
  assert.ok(impatient)
  const third = lines.enter('x', 1000)
  first[Symbol.dispose]()
  const turn = await third
  turn[Symbol.dispose]()
  using next = await lines.enter('x', 0)
  assert.ok(next)
})
