import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crdTerminating, invalid, passedOn } from './errors.ts'
import { invalidShown, invalidValue } from './field-fault.ts'

test('the status code of a webhook response is forwarded to the client only if it is an error code', () => {
  const sent = [403, 400, 599, 0, 200, 399, 600, 99_999, -1]
  assert.deepEqual(
    sent.map((code) => passedOn({ code }, 'no').code),
    [403, 400, 599, 400, 400, 400, 400, 400, 400],
  )
})

test('the number of validation errors in a response is limited', () => {
  const faults = Array.from({ length: 10_000 }, (_, at) =>
    invalidValue(`spec.a[${at}]`, 'x'.repeat(400), 'wrong'),
  )
  const { message, details } = invalid({ group: '', kind: 'A' }, 'a', faults)
  assert.ok(message.length < 300_000, `${message.length} characters`)
  assert.ok((details?.causes?.length ?? 0) > 100)
})

test('a validation error with a message of several megabytes is truncated', () => {
  const fault = invalidShown('spec.list', 'x'.repeat(5 << 20), 'too many')
  const { message, details } = invalid({ group: '', kind: 'Pod' }, 'p', [fault])
  assert.ok(message.length < 300_000, `${message.length} characters`)
  assert.match(message, /x\.\.\. \(\d+ more characters\)$/)
  assert.equal(details?.causes?.length, 1)
})

test('a create during the deletion of its definition gets 405, and 403 since 1.34', () => {
  const codes = [33, 34].map(
    (release) => crdTerminating({ group: 'a.b', plural: 'widgets', release }, 'w').code,
  )
  assert.deepEqual(codes, [405, 403])
})
