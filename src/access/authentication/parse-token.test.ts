import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParseToken } from './parse-token.ts'

const encode = (text: string): string => Buffer.from(text).toString('base64url')
const tokenOf = (claims: string): string =>
  `${encode('{"alg":"RS256"}')}.${encode(claims)}.${encode('signature')}`

const listed = (count: number): string =>
  tokenOf(`{"n":[${Array.from({ length: count }, () => '1').join(',')}]}`)

test('if the same token is parsed twice in a row before the next microtask, the first result is reused', async () => {
  const parse = createParseToken()
  const [token, other] = [tokenOf('{"iss":"a"}'), tokenOf('{"iss":"b"}')]
  const first = parse(token)
  assert.equal(first?.claims['iss'], 'a')
  assert.equal(parse(`${token} `.trim()), first)
  assert.equal(parse(other)?.claims['iss'], 'b')
  assert.equal(parse(token)?.claims['iss'], 'a')
  const again = parse(token)
  await Promise.resolve()
  assert.notEqual(parse(token), again)
  assert.equal(parse('no token'), undefined)
})

test('a token that is longer than the limit is not parsed', () => {
  const parse = createParseToken()
  assert.ok(parse(listed(12_000)) !== undefined)
  assert.equal(parse(listed(13_000)), undefined)
})
