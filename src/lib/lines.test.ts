import assert from 'node:assert/strict'
import test from 'node:test'
import { Lines } from './lines.ts'

test('callers with the same name go one after the other, in order', async () => {
  const lines = new Lines(1000)
  const seen: string[] = []
  const go = async (name: string, line: string): Promise<void> => {
    using turn = await lines.enter(line)
    assert.ok(turn)
    seen.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(`${name} ends`)
  }
  await Promise.all([go('a', 'x'), go('b', 'x'), go('c', 'x')])
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('a turn that is held for too long passes to the next caller alone', async () => {
  const lines = new Lines(1)
  const first = await lines.enter('x')
  const second = await lines.enter('x')
  assert.equal(second.hasWaited, true)
  const third = lines.enter('x')
  // The first caller no longer holds the turn, so the third one still waits for the second.
  first[Symbol.dispose]()
  let isIn = false
  void third.then(() => (isIn = true))
  await Promise.resolve()
  assert.equal(isIn, false)
  second[Symbol.dispose]()
  const turn = await third
  turn[Symbol.dispose]()
  using next = await lines.enter('x')
  assert.equal(next.hasWaited, false)
})

test('callers wait for as long as turns are passed on', async () => {
  const due: (() => void)[] = []
  const timers = {
    every: assert.fail,
    soon: assert.fail,
    after: (_: number, run: () => void) => hold(due, run),
  }
  const lines = new Lines(1000, timers)
  const first = await lines.enter('x')
  const [second, third] = [lines.enter('x'), lines.enter('x')]
  first[Symbol.dispose]()
  using turn = await second
  assert.ok(turn)
  assert.equal(due.length, 1, 'the limit begins anew for the second caller')
  due[0]?.()
  using last = await third
  assert.equal(last.hasWaited, true)
  assert.equal(due.length, 0, 'there is no limit while nobody waits')
})

function hold(due: (() => void)[], run: () => void): Disposable & { close(): void } {
  due.push(run)
  const close = (): void => void due.splice(due.indexOf(run), 1)
  return { close, [Symbol.dispose]: close }
}
