import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoUrl } from './url.ts'

test('a URL is split into its parts', () => {
  const parts = {
    scheme: 'https',
    hasUser: true,
    host: 'a.example.org:1',
    query: 'b=c',
    fragment: 'd',
  }
  assert.deepEqual(parseGoUrl('HTTPS://me:pw@a.example.org:1/x?b=c#d'), parts)
  const none = { scheme: '', hasUser: false, host: '', query: '', fragment: '' }
  assert.deepEqual(parseGoUrl(''), none)
  assert.deepEqual(parseGoUrl('a/b:c'), none)
  assert.deepEqual(parseGoUrl('///a'), none)
  assert.deepEqual(parseGoUrl('//a/b'), { ...none, host: 'a' })
  assert.deepEqual(parseGoUrl('mailto:a@b'), { ...none, scheme: 'mailto' })
  assert.deepEqual(parseGoUrl('https://[::1]:80'), { ...none, scheme: 'https', host: '[::1]:80' })
})

const refused: readonly (readonly [string, string])[] = [
  [':a', 'parse ":a": missing protocol scheme'],
  ['a:b', ''],
  ['1a:b', 'parse "1a:b": first path segment in URL cannot contain colon'],
  ['https://a b', 'parse "https://a b": invalid character " " in host name'],
  ['https://a:b', 'parse "https://a:b": invalid port ":b" after host'],
  ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
  ['https://m e@a', 'parse "https://m e@a": net/url: invalid userinfo'],
  ['https://a/%zz#b', 'parse "https://a/%zz": invalid URL escape "%zz"'],
  ['https://a#%', 'parse "https://a#%": invalid URL escape "%"'],
  ['https://a/\n', 'parse "https://a/\\n": net/url: invalid control character in URL'],
]

test('an invalid URL is rejected with the messages of Go', () => {
  for (const [text, fault] of refused) {
    const parsed = parseGoUrl(text)
    assert.equal('fault' in parsed ? parsed.fault : '', fault, text)
  }
})
