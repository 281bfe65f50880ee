import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passedOn } from './errors.ts'

test('the code of a webhook is passed on only if it is one of an error', () => {
  const sent = [403, 400, 599, 0, 200, 399, 600, 99_999, -1]
  assert.deepEqual(
    sent.map((code) => passedOn({ code }, 'no').code),
    [403, 400, 599, 400, 400, 400, 400, 400, 400],
  )
})
