import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './wait-for.ts'

const never = (): (() => void) => () => undefined

test('the first value that is not empty is returned', async () => {
  let asked = 0
  assert.equal(await waitFor(() => (++asked < 3 ? undefined : 'it'), never), 'it')
  assert.equal(await waitFor(() => 'it', never, { timeoutMs: 0 }), 'it')
  assert.equal(await waitFor(async () => 'it', never, { timeoutMs: Infinity }), 'it')
})

test('a condition that never holds fails in time, with its last error', async () => {
  const wrong = new Error('not there')
  const waiting = waitFor(() => Promise.reject(wrong), never, { timeoutMs: 50, what: 'the pod' })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod',
    cause: wrong,
  })
})

test('a condition that does not settle also fails in time', { timeout: 20_000 }, async () => {
  const waiting = waitFor(() => new Promise<never>(() => undefined), never, {
    timeoutMs: 50,
    what: 'the pod',
  })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod: the last check did not finish',
  })
})
