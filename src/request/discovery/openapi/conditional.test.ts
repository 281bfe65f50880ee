import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditional, httpDate } from './conditional.ts'

const MODIFIED_MS = Date.UTC(2026, 2, 1, 10, 0, 0, 500)
const whole = {
  headers: { 'content-type': 'text/plain', etag: '"A"' },
  body: Buffer.from('0123456789'),
}

function ask(headers: { readonly [name: string]: string }): {
  status: number
  text: string
  range: unknown
} {
  const response = conditional({ headers }, { ...whole, modifiedMs: MODIFIED_MS })
  assert.ok('body' in response && Buffer.isBuffer(response.body))
  return {
    status: response.status,
    text: response.body.toString(),
    range: response.headers['content-range'],
  }
}

test('a client that already has the OpenAPI document gets status 304 without a body', () => {
  for (const tags of ['"A"', 'W/"A"', '"B", "A"', '*'])
    assert.equal(ask({ 'if-none-match': tags }).status, 304)
  assert.equal(ask({ 'if-none-match': '"B"' }).status, 200)
  assert.equal(ask({ 'if-modified-since': httpDate(MODIFIED_MS) }).status, 304)
  assert.equal(ask({ 'if-modified-since': httpDate(MODIFIED_MS - 1000) }).status, 200)
  assert.equal(ask({ 'if-modified-since': 'yesterday' }).status, 200)
  // If-None-Match takes precedence over If-Modified-Since, because a tag is more precise than a
  // date.
  assert.equal(
    ask({ 'if-none-match': '"B"', 'if-modified-since': httpDate(MODIFIED_MS) }).status,
    200,
  )
})

test('a 304 response for an OpenAPI document has no content type', () => {
  const { headers } = conditional(
    { headers: { 'if-none-match': '*' } },
    { ...whole, modifiedMs: MODIFIED_MS },
  )
  assert.deepEqual(headers, { etag: '"A"' })
})

test('the response to a range request contains the requested part of the document', () => {
  assert.deepEqual(ask({ range: 'bytes=2-4' }), { status: 206, text: '234', range: 'bytes 2-4/10' })
  assert.deepEqual(ask({ range: 'bytes=8-' }), { status: 206, text: '89', range: 'bytes 8-9/10' })
  assert.deepEqual(ask({ range: 'bytes=-3' }), { status: 206, text: '789', range: 'bytes 7-9/10' })
  assert.deepEqual(ask({ range: 'bytes=-99' }), {
    status: 206,
    text: '0123456789',
    range: 'bytes 0-9/10',
  })
  assert.equal(ask({ range: 'bytes=10-' }).status, 416)
  assert.equal(ask({ range: 'bytes=2-4', 'if-range': '"A"' }).status, 206)
  assert.equal(ask({ range: 'bytes=2-4', 'if-range': '"B"' }).status, 200)
  for (const range of ['bytes=', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4']) {
    assert.equal(ask({ range }).status, 200)
  }
})
