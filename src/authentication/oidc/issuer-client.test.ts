import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '../../lib/timers.ts'
import { IssuerClient } from './issuer-client.ts'

const urls: readonly [string, string, RegExp][] = [
  [
    'that cannot be reached',
    'https://jane:secret@127.0.0.1:1/claims',
    /^Get "https:\/\/jane:\*\*\*@127.0.0.1:1\/claims": /,
  ],
  ['of another protocol', 'http://jane:secret@127.0.0.1:1/', /^Get "http:\/\/jane:\*\*\*@127.0.0.1:1\/": URL scheme/],
  ['that is none', 'https://jane:secret@:x/', /^parse "https:\/\/\*\*\*@:x\/": invalid URL$/],
  ['without a password', 'http://jane@127.0.0.1/', /^Get "http:\/\/jane@127.0.0.1\/": /],
]
for (const [what, url, message] of urls) {
  test(`the password of a URL ${what} is not shown`, async () => {
    using client = new IssuerClient('', systemTime)
    await assert.rejects(client.get(url), { message })
  })
}
