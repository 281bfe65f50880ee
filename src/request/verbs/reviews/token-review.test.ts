import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateAudiences } from './token-review.ts'

const faultsOf = (audiences: readonly string[]): string[] =>
  validateAudiences({
    apiVersion: 'v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { audiences },
  }).map(({ path, message }) => `${path}: ${message}`)

test('the number and the total length of the audiences of a TokenReview are limited', () => {
  assert.deepEqual(faultsOf(Array.from({ length: 256 }, (_, at) => `a${at}`)), [])
  assert.deepEqual(faultsOf(Array.from({ length: 257 }, () => '')), [
    'spec.audiences: Too many: 257: must have at most 256 items',
  ])
  assert.deepEqual(faultsOf(['x'.repeat(300_000)]), [
    'spec.audiences: Too long: may not be more than 262144 bytes',
  ])
})
