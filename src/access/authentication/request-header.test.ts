import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { identityHeaderTest, standardHeaders } from '../../api/identity-headers.ts'
import type { PeerCertificate } from '../../api/request.ts'
import { createAuthority, issue } from '../../lib/x509/certificates.ts'
import { createVerifyProxy, type RequestHeaderOptions } from './request-header.ts'

const nowMs = Date.parse('2026-06-01T00:00:00Z')
const authority = createAuthority('proxies', nowMs)
const peer = (commonName: string, isVerified = true): PeerCertificate => {
  const { certificatePem } = issue(authority, { commonName, usage: 'client', hosts: [], nowMs })
  return { certificate: new X509Certificate(certificatePem), isVerified }
}
const proxy = peer('proxy')

const options: RequestHeaderOptions = {
  headers: standardHeaders,
  allowedNames: ['proxy'],
  faultOf: ({ isVerified }) => (isVerified ? undefined : 'not ours'),
  wallMs: () => nowMs,
}

function seen(
  headers: IncomingHttpHeaders,
  given: Partial<RequestHeaderOptions> = {},
  by = proxy,
): unknown {
  const attempt = createVerifyProxy({ ...options, ...given })(headers, by)
  return attempt.kind === 'known' ? attempt.user : attempt.kind === 'bad' ? attempt.why : undefined
}

test('a front proxy passes the name, uid, groups and extra fields of the user in headers', () => {
  const headers = {
    'x-remote-user': 'jane, of x',
    'x-remote-uid': 'u1',
    'x-remote-group': ['a', '', 'b, c'],
    'x-remote-extra-scopes': ['1', ''],
    'x-remote-extra-example.org%2fkey': '2',
    'x-remote-extra-%zz': '3',
    'x-remote-extra-__proto__': '4',
  }
  assert.deepEqual(seen(headers), {
    name: 'jane, of x',
    uid: 'u1',
    groups: ['a', 'b, c', 'system:authenticated'],
    extra: Object.fromEntries([
      ['scopes', ['1', '']],
      ['example.org/key', ['2']],
      ['%zz', ['3']],
      ['__proto__', ['4']],
    ]),
  })
})

test('a request whose headers have no user name is not authenticated', () => {
  assert.equal(seen({}), undefined)
  assert.equal(seen({ 'x-remote-user': '', 'x-remote-group': 'system:masters' }), undefined)
  assert.equal(seen({ 'x-remote-user': ['', 'jane'] }), undefined)
})

test('the user name comes from the first header with a value, and groups come from all group headers', () => {
  const headers = { ...standardHeaders, username: ['x-a', 'x-b'], group: ['x-g', 'x-h'], uid: [] }
  const found = seen(
    { 'x-a': '', 'x-b': ['jane', 'joe'], 'x-h': 'h', 'x-g': 'g', 'x-remote-uid': 'u' },
    { headers },
  )
  assert.deepEqual(found, { name: 'jane', uid: '', groups: ['g', 'h', 'system:authenticated'] })
})

test('system:anonymous does not become a member of system:authenticated', () => {
  assert.deepEqual(seen({ 'x-remote-user': 'system:anonymous' }), {
    name: 'system:anonymous',
    uid: '',
    groups: [],
  })
})

test('the values of identity headers are decoded as UTF-8', () => {
  const latin1 = Buffer.from('jörg').toString('latin1')
  assert.deepEqual(seen({ 'x-remote-user': latin1 }), {
    name: 'jörg',
    uid: '',
    groups: ['system:authenticated'],
  })
})

test('bytes that are whitespace only in Latin-1 are not trimmed from names', () => {
  for (const name of ['andre\u00e0', 'andre\u0160', '\u00a0jane\u00a0', '\u3000', 'jane']) {
    const found = seen({ 'x-remote-user': ` \t${Buffer.from(name).toString('latin1')}\t ` })
    assert.deepEqual(found, { name, uid: '', groups: ['system:authenticated'] })
  }
})

test('identity headers are trusted only if the client certificate identifies a front proxy', () => {
  const headers = { 'x-remote-user': 'jane' }
  assert.match(
    String(seen(headers, {}, peer('proxy', false))),
    /^verifying certificate SN=\d+ failed: not ours$/,
  )
  assert.equal(
    seen(headers, {}, peer('other')),
    'x509: subject with cn=other is not in the allowed list',
  )
  assert.equal(seen(headers, {}, peer('')), 'x509: subject with cn= is not in the allowed list')
  assert.ok(seen(headers, { allowedNames: [] }, peer('other')) instanceof Object)
  const later = nowMs + 11 * 365 * 86_400_000
  assert.match(String(seen(headers, { wallMs: () => later })), /expired/)
})

test('identityHeaderTest recognizes the default and the configured headers that identify a user', () => {
  const own = {
    username: ['x-user'],
    uid: ['x-uid'],
    group: ['x-group'],
    extraPrefixes: ['x-more-'],
  }
  const is = identityHeaderTest(own)
  const names = [
    'x-user',
    'x-uid',
    'x-group',
    'x-more-a',
    'x-remote-user',
    'x-remote-uid',
    'x-remote-group',
  ]
  for (const name of [...names, 'x-remote-extra-a', 'impersonate-user']) assert.ok(is(name), name)
  for (const name of ['x-users', 'x-more', 'accept', 'x-remote-addr', 'authorization'])
    assert.ok(!is(name), name)
  assert.ok(!identityHeaderTest()('x-user'))
})
