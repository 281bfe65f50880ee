import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInTurns } from './start-in-turns.ts'

const onFailed = (error: unknown): never => assert.fail(String(error))
const atOnce = { defer: (run: () => void): void => run(), onFailed }

test('a stop ends all controllers in parallel and waits for them, even if one of them fails to stop', async () => {
  const reported: string[] = []
  const slow = Promise.withResolvers<void>()
  const controller = (name: string, end: () => Promise<void>): AsyncDisposable => ({
    [Symbol.asyncDispose]: () => {
      reported.push(name)
      return end()
    },
  })
  const starts = [
    controller('first', () => Promise.resolve()),
    controller('failing', () => Promise.reject(new Error('of the test'))),
    controller('throwing', () => {
      throw new Error('of the test, too')
    }),
    controller('slow', () => slow.promise),
  ].map((one) => () => one)
  const all = startInTurns(starts, atOnce)
  let hasEnded = false
  const stop = async (): Promise<void> => {
    try {
      await all[Symbol.asyncDispose]()
    } finally {
      hasEnded = true
    }
  }
  const ended = stop()
  // All controllers are stopped in parallel.
  assert.deepEqual(reported, ['first', 'failing', 'throwing', 'slow'])
  const failed = assert.rejects(ended, ({ errors }: AggregateError) => {
    assert.deepEqual(errors.map(String), ['Error: of the test', 'Error: of the test, too'])
    return true
  })
  await new Promise(setImmediate)
  assert.ok(!hasEnded)
  slow.resolve()
  await failed
})

test('the stop of all controllers succeeds if each controller stops', async () => {
  await startInTurns([() => ({ [Symbol.asyncDispose]: () => Promise.resolve() })], atOnce)[
    Symbol.asyncDispose
  ]()
})

test('one controller is started per tick of the event loop, and none is started after the stop', async () => {
  const reported: string[] = []
  const due: (() => void)[] = []
  const starts = ['a', 'b', 'c'].map((name) => () => {
    reported.push(`${name} starts`)
    return { [Symbol.asyncDispose]: async () => void reported.push(`${name} ends`) }
  })
  const all = startInTurns(starts, { defer: (run) => due.push(run), onFailed })
  assert.deepEqual(reported, ['a starts'])
  due.shift()?.()
  assert.deepEqual(reported, ['a starts', 'b starts'])
  await all[Symbol.asyncDispose]()
  due.shift()?.()
  assert.deepEqual(reported, ['a starts', 'b starts', 'a ends', 'b ends'])
  assert.equal(due.length, 0)
})

const fails = (): never => {
  throw new Error('of the test')
}

test('a start that fails in a later tick is reported, and no further controller is started', async () => {
  const reported: string[] = []
  const start = (name: string) => () => {
    reported.push(`${name} starts`)
    return { [Symbol.asyncDispose]: async () => void reported.push(`${name} ends`) }
  }
  const note = (error: unknown): void => void reported.push(String(error))
  const all = startInTurns([start('a'), fails, start('b')], { ...atOnce, onFailed: note })
  assert.deepEqual(reported, ['a starts', 'Error: of the test'])
  await all[Symbol.asyncDispose]()
  assert.deepEqual(reported, ['a starts', 'Error: of the test', 'a ends'])
  assert.throws(
    () => startInTurns([fails, start('b')], { ...atOnce, onFailed: note }),
    /of the test/,
  )
})
