import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nowOrLater, wait, type Waits } from './waits.ts'

function* sum(...values: readonly (number | Promise<number>)[]): Waits<number> {
  let total = 0
  for (const value of values) total += yield* wait(value)
  return total
}

test('work that waits for nothing is over at once', () => {
  assert.equal(nowOrLater(sum(1, 2, 3)), 6)
})

test('work waits for promises, in their order', async () => {
  const done = nowOrLater(sum(1, Promise.resolve(2), 3, Promise.resolve(4)))
  assert.ok(done instanceof Promise)
  assert.equal(await done, 10)
})

function* caught(value: Promise<number>): Waits<string> {
  try {
    return `${yield* wait(value)}`
  } catch (error) {
    return `caught ${error instanceof Error ? error.message : ''}`
  }
}

test('a rejection is thrown where the work waits, and ends work that does not catch it', async () => {
  assert.equal(await nowOrLater(caught(Promise.reject(new Error('no')))), 'caught no')
  await assert.rejects(
    async () => nowOrLater(sum(1, Promise.reject(new Error('no')))),
    /^Error: no$/,
  )
  assert.throws(() => nowOrLater(failing(1)), /^Error: at once$/)
})

function* failing(value: number): Waits<never> {
  throw new Error((yield* wait(value)) === 1 ? 'at once' : '')
}
