import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './wait-for.ts'

const never = (): (() => void) => () => undefined

test('waitFor returns the first value that is not empty', async () => {
  let asked = 0
  assert.equal(await waitFor(() => (++asked < 3 ? undefined : 'it'), never), 'it')
  assert.equal(await waitFor(() => 'it', never, { timeoutMs: 0 }), 'it')
  assert.equal(await waitFor(async () => 'it', never, { timeoutMs: Infinity }), 'it')
})

test('if the condition never holds, waitFor fails at the timeout with the last error as the cause', async () => {
  const wrong = new Error('not there')
  const waiting = waitFor(() => Promise.reject(wrong), never, { timeoutMs: 50, what: 'the pod' })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod',
    cause: wrong,
  })
})

test('if the promise of the condition never settles, waitFor fails at the timeout', {
  timeout: 20_000,
}, async () => {
  const waiting = waitFor(() => new Promise<never>(() => undefined), never, {
    timeoutMs: 50,
    what: 'the pod',
  })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod: the last check did not finish',
  })
})
