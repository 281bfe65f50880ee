import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import { patchForm } from './patch-form.ts'

test('the Content-Type determines the kind of a patch, regardless of its parameters', () => {
  assert.equal(codeOf('application/json-patch+json', '1'), 'json')
  assert.equal(codeOf('application/merge-patch+json; charset=utf-8', '1'), 'merge')
  assert.equal(codeOf('application/strategic-merge-patch+json;x', '1'), 'strategic')
  assert.equal(codeOf('application/apply-patch+yaml', '1'), 'apply')
})

const codeOf = (type: string, length: string, release = 33): unknown => {
  try {
    return patchForm(
      { headers: { 'content-type': type, 'content-length': length } },
      { isCustom: false, release },
    )
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.message.split('\n')[0]}` : error
  }
}

test('unrecognized content types of patches are rejected, either by the router or by the handler', () => {
  assert.equal(codeOf('application/json', '2'), '415 415: Unsupported Media Type')
  assert.equal(codeOf('Application/Merge-Patch+Json', '2'), '415 415: Unsupported Media Type')
  assert.equal(codeOf('', '0'), '406 406: Not Acceptable')
  assert.equal(codeOf('', '0', 34), '415 415: Unsupported Media Type')
  assert.match(
    String(codeOf('application/merge-patch+json ; a=b', '2')),
    /^415 the body of the request/,
  )
})
