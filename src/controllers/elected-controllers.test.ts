import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stoppedTogether } from './elected-controllers.ts'

test('all controllers are told to stop at once, and all are waited for, even if one fails', async () => {
  const told: string[] = []
  const slow = Promise.withResolvers<void>()
  const controller = (name: string, end: () => Promise<void>): AsyncDisposable => ({
    [Symbol.asyncDispose]: () => {
      told.push(name)
      return end()
    },
  })
  const all = stoppedTogether([
    controller('first', () => Promise.resolve()),
    controller('failing', () => Promise.reject(new Error('of the test'))),
    controller('throwing', () => {
      throw new Error('of the test, too')
    }),
    controller('slow', () => slow.promise),
  ])
  let hasEnded = false
  const stop = async (): Promise<void> => {
    try {
      await all[Symbol.asyncDispose]()
    } finally {
      hasEnded = true
    }
  }
  const ended = stop()
  // Without waiting for any of them.
  assert.deepEqual(told, ['first', 'failing', 'throwing', 'slow'])
  const failed = assert.rejects(ended, ({ errors }: AggregateError) => {
    assert.deepEqual(errors.map(String), ['Error: of the test', 'Error: of the test, too'])
    return true
  })
  await new Promise(setImmediate)
  assert.ok(!hasEnded)
  slow.resolve()
  await failed
})

test('controllers that all end fail nothing', async () => {
  await stoppedTogether([{ [Symbol.asyncDispose]: () => Promise.resolve() }])[Symbol.asyncDispose]()
})
