import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import workers from 'node:worker_threads'
import { startThread } from './start-thread.ts'

test('if the SQLite thread cannot be started, the error message says how to fix this', async (t) => {
  t.mock.method(workers, 'Worker', function refuse() {
    throw Object.assign(new Error('Worker initialization failure: EAGAIN'), {
      code: 'ERR_WORKER_INIT_FAILED',
    })
  })
  syncBuiltinESMExports()
  try {
    const opening = startThread({ file: '/nowhere/keelson.sqlite', isDurable: true })
    await assert.rejects(
      opening,
      /cannot be started \(Worker initialization failure: EAGAIN\): allow more threads/,
    )
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
})
