import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDeleteOptions } from './delete-options.ts'

test('delete options with thousands of dryRun values are rejected, and the error does not quote the values', () => {
  assert.throws(
    () => checkDeleteOptions({ dryRun: Array.from({ length: 10_000 }, () => '') }, 33),
    {
      code: 422,
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Too many: 10000: must have at most 100 items',
    },
  )
})

test('the error for an unknown value of dryRun quotes the value', () => {
  assert.throws(() => checkDeleteOptions({ dryRun: ['All', 'Some'] }, 33), {
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"All", "Some"}: supported values: "All"',
  })
})
