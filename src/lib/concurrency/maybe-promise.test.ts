import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awaitMaybe, type MaybeAsync, type MaybePromise, runMaybeAsync } from './maybe-promise.ts'

function* sum(...values: readonly MaybePromise<number>[]): MaybeAsync<number> {
  let total = 0
  for (const value of values) total += yield* awaitMaybe(value)
  return total
}

test('runMaybeAsync completes synchronously if the work never waits', () => {
  assert.equal(runMaybeAsync(sum(1, 2, 3)), 6)
})

test('runMaybeAsync returns a promise if the work waits for promises', async () => {
  const done = runMaybeAsync(sum(1, Promise.resolve(2), 3, Promise.resolve(4)))
  assert.ok(done instanceof Promise)
  assert.equal(await done, 10)
})

function* caught(value: Promise<number>): MaybeAsync<string> {
  try {
    return `${yield* awaitMaybe(value)}`
  } catch (error) {
    return `caught ${error instanceof Error ? error.message : ''}`
  }
}

test('runMaybeAsync throws a rejection into the work that waits, and rejects if the work does not catch the rejection', async () => {
  assert.equal(await runMaybeAsync(caught(Promise.reject(new Error('no')))), 'caught no')
  await assert.rejects(
    async () => runMaybeAsync(sum(1, Promise.reject(new Error('no')))),
    /^Error: no$/,
  )
  assert.throws(() => runMaybeAsync(failing(1)), /^Error: at once$/)
})

function* failing(value: number): MaybeAsync<never> {
  throw new Error((yield* awaitMaybe(value)) === 1 ? 'at once' : '')
}
