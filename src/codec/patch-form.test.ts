import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/errors.ts'
import { patchForm } from './patch-form.ts'

const builtIn = { isCustom: false }

test('the kind of a patch is that of its content type, whatever its parameters', () => {
  assert.equal(patchForm({ 'content-type': 'application/json-patch+json' }, builtIn), 'json')
  assert.equal(patchForm({ 'content-type': 'application/merge-patch+json; charset=utf-8' }, builtIn), 'merge')
  assert.equal(patchForm({ 'content-type': 'application/strategic-merge-patch+json;x' }, builtIn), 'strategic')
  assert.equal(patchForm({ 'content-type': 'application/apply-patch+yaml' }, builtIn), 'apply')
})

const codeOf = (type: string, length: string): unknown => {
  try {
    return patchForm({ 'content-type': type, 'content-length': length }, builtIn)
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.message.split('\n')[0]}` : error
  }
}

test('other types are refused, by the router or behind it', () => {
  assert.equal(codeOf('application/json', '2'), '415 415: Unsupported Media Type')
  assert.equal(codeOf('Application/Merge-Patch+Json', '2'), '415 415: Unsupported Media Type')
  assert.equal(codeOf('', '0'), '406 406: Not Acceptable')
  assert.match(String(codeOf('application/merge-patch+json ; a=b', '2')), /^415 the body of the request/)
})
