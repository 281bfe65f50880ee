import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createField } from '../http2/field.ts'
import { statusFailure } from './status.ts'

test('a status code that gRPC does not define is mapped to Unknown', () => {
  for (const value of ['99', 'x']) {
    equal(statusFailure([createField('grpc-status', value)], 'http://a')?.code, 'Unknown')
  }
})

test('the error message in a gRPC status is percent-decoded', () => {
  const fields = [createField('grpc-status', '14'), createField('grpc-message', 'a%20b')]
  equal(statusFailure(fields, 'http://a')?.message, 'a b')
})
