import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyAuthorization } from './proxied-dial.ts'

test('proxy credentials are the percent-decoded bytes of the URL', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['http://h', ''],
    ['http://a:b@h', 'a:b'],
    ['http://a%3Ab:c%40@h', 'a:b:c@'],
    ['http://jürgen@h', 'j\xc3\xbcrgen:'],
    // The first of the next two users is not valid UTF-8. The second has invalid escapes.
    ['http://a%ff%C3%28@h', 'a\xff\xc3(:'],
    ['http://a%zz:%@h', 'a%zz:%'],
  ]
  for (const [url, expected] of cases) {
    const encoded = proxyAuthorization(new URL(url)).replace(/^Basic /, '')
    assert.equal(Buffer.from(encoded, 'base64').toString('latin1'), expected, url)
  }
})
