import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { identityHeaderTest, type IsIdentityHeader } from './identity-headers.ts'
import type { ApiRequest } from './request.ts'
import { requestHeaders } from './proxied-headers.ts'

function passed(headers: IncomingHttpHeaders, isIdentityHeader?: IsIdentityHeader): string[] {
  const request: ApiRequest = {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers,
    isIdentityHeader,
    body: async () => Buffer.alloc(0),
    hasBody: false,
    pipeBody: async () => undefined,
    signal: new AbortController().signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
  const own = requestHeaders(request)
  return Object.keys(headers).filter((name) => Object.hasOwn(own, name))
}

test('credentials and headers that identify a user are not forwarded to a backend', () => {
  const headers = {
    accept: 'a',
    authorization: 'Bearer t',
    'impersonate-user': 'x',
    'x-remote-user': 'x',
    'x-remote-uid': 'x',
    'x-remote-group': ['a', 'b'],
    'x-remote-extra-scope': 's',
    'x-user': 'x',
    'x-more-scope': 's',
  }
  assert.deepEqual(passed(headers), ['accept', 'x-user', 'x-more-scope'])
  const own = { username: ['x-user'], uid: [], group: [], extraPrefixes: ['x-more-'] }
  assert.deepEqual(passed(headers, identityHeaderTest(own)), ['accept'])
})
