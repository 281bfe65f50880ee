import assert from 'node:assert/strict'
import test from 'node:test'
import { KeyedMutex } from './keyed-mutex.ts'

test('callers with the same key run one after the other, in order', async () => {
  const mutex = new KeyedMutex(1000)
  const seen: string[] = []
  const run = async (name: string, key: string): Promise<void> => {
    using lock = await mutex.lock(key)
    assert.ok(lock)
    seen.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(`${name} ends`)
  }
  await Promise.all([run('a', 'x'), run('b', 'x'), run('c', 'x')])
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('if a lock is held for too long, it passes to the next caller, but not to the caller after that one', async () => {
  const mutex = new KeyedMutex(1)
  const first = await mutex.lock('x')
  const second = await mutex.lock('x')
  assert.equal(second.hasWaited, true)
  const third = mutex.lock('x')
  // The lock of the first caller has expired, so disposing of it does not pass the lock to the
  // third caller.
  first[Symbol.dispose]()
  let isIn = false
  void third.then(() => (isIn = true))
  await Promise.resolve()
  assert.equal(isIn, false)
  second[Symbol.dispose]()
  const lock = await third
  lock[Symbol.dispose]()
  using next = await mutex.lock('x')
  assert.equal(next.hasWaited, false)
})

test('the time limit of a lock starts again for each new holder, and its timer stops when no caller waits', async () => {
  const due: (() => void)[] = []
  const timers = {
    every: assert.fail,
    defer: assert.fail,
    after: (_: number, run: () => void) => hold(due, run),
  }
  const mutex = new KeyedMutex(1000, timers)
  const first = await mutex.lock('x')
  const [second, third] = [mutex.lock('x'), mutex.lock('x')]
  first[Symbol.dispose]()
  using lock = await second
  assert.ok(lock)
  assert.equal(due.length, 1, 'the limit starts again for the second caller')
  due[0]?.()
  using last = await third
  assert.equal(last.hasWaited, true)
  assert.equal(due.length, 0, 'there is no limit while no caller waits')
})

function hold(due: (() => void)[], run: () => void): Disposable & { close(): void } {
  due.push(run)
  const close = (): void => void due.splice(due.indexOf(run), 1)
  return { close, [Symbol.dispose]: close }
}
