import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileLooks } from './file-looks.ts'

test('if a check of watched files fails, the error is reported, and later checks still run', async () => {
  const failed: unknown[] = []
  let checks = 0
  using looks = new FileLooks(
    [],
    () => {
      checks++
      return checks === 1 ? Promise.reject(new Error('first')) : Promise.resolve()
    },
    { onFailed: (error) => void failed.push(error) },
  )
  await looks.look()
  await looks.look()
  assert.equal(checks, 2)
  assert.deepEqual(failed, [new Error('first')])
})
