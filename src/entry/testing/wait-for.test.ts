import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './wait-for.ts'

const tools = { onWrite: () => () => undefined, explain: () => [] }

test('waitFor returns the first value that is not empty', async () => {
  let asked = 0
  assert.equal(await waitFor(() => (++asked < 3 ? undefined : 'it'), tools), 'it')
  assert.equal(await waitFor(() => 'it', tools, { timeoutMs: 0 }), 'it')
  assert.equal(await waitFor(async () => 'it', tools, { timeoutMs: Infinity }), 'it')
})

test('if the condition never holds, the error contains the source text of the condition, its last value and the recent writes', async () => {
  const text = '() =>\n  get() === 200'
  const waiting = waitFor(
    () => false,
    { ...tools, explain: () => ['the last writes:', '  a write'], text },
    { timeoutMs: 50 },
  )
  await assert.rejects(waiting, (error: Error) => {
    assert.equal(
      error.message,
      `timed out after 50 ms waiting for the condition
  condition: () => get() === 200
  last value: false
  the last writes:
    a write`,
    )
    assert.ok(!('cause' in error))
    return true
  })
})

test('if the condition throws until the timeout, its last error is the cause of the error', async () => {
  const wrong = new Error('not there')
  const waiting = waitFor(() => Promise.reject(wrong), tools, { timeoutMs: 50, what: 'the pod' })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod\n  last error: not there',
    cause: wrong,
  })
})

test('if the promise of the condition never settles, waitFor fails at the timeout', {
  timeout: 20_000,
}, async () => {
  const waiting = waitFor(() => new Promise<never>(() => undefined), tools, {
    timeoutMs: 50,
    what: 'the pod',
  })
  await assert.rejects(waiting, {
    message: 'timed out after 50 ms waiting for the pod: the last check did not finish',
  })
})
