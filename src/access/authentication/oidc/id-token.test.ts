import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../api/object.ts'
import type { Jwt } from '../../../lib/jwt.ts'
import { checkAudiences, checkUnverified, type IdTokenRules, isIssuer } from './id-token.ts'

const nowMs = Date.UTC(2026, 0, 1)
const now = nowMs / 1000
const rules: IdTokenRules = {
  issuer: 'https://i',
  audiences: ['app'],
  algorithms: ['RS256', 'ES256'],
}
const good = { iss: 'https://i', aud: 'app', exp: now + 60 }

const jwtOf = (claims: Fields, algorithm = 'RS256'): Jwt => ({
  keyId: '',
  algorithm,
  hasCritical: false,
  claims,
  signed: '',
  signature: Buffer.alloc(0),
})

function whyNot(claims: Fields, { algorithm = 'RS256', audiences = ['app'] } = {}): string {
  const jwt = jwtOf(claims, algorithm)
  try {
    checkUnverified(jwt, { ...rules, audiences }, nowMs)
    checkAudiences(jwt, { ...rules, audiences })
    return ''
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message
  }
}

test('an ID token is rejected if its issuer, audience, validity period or claim sources are invalid', () => {
  const cases: readonly [Fields, string][] = [
    [good, ''],
    [{ ...good, aud: ['x', 'app'] }, ''],
    [{ ...good, exp: `${now + 60}` }, ''],
    [{ ...good, exp: now }, ''],
    [{ ...good, nbf: now + 60 }, ''],
    [{ ...good, nbf: null, sub: null }, ''],
    [
      { ...good, iss: 'https://i/' },
      'oidc: id token issued by a different provider, expected "https://i" got "https://i/"',
    ],
    [{ ...good, aud: 'x' }, 'oidc: expected audience "app" got ["x"]'],
    [{ ...good, aud: [] }, 'oidc: expected audience "app" got []'],
    [{ iss: good.iss, exp: good.exp }, 'oidc: expected audience "app" got []'],
    [
      { ...good, exp: now - 1 },
      'oidc: token is expired (Token Expiry: 2025-12-31 23:59:59 +0000 UTC)',
    ],
    [
      { iss: good.iss, aud: 'app' },
      'oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)',
    ],
    [
      { ...good, nbf: now + 61 },
      'oidc: current time 2026-01-01 00:00:00 +0000 UTC before the nbf (not before) time: 2026-01-01 00:01:01 +0000 UTC',
    ],
    [
      { ...good, sub: 1 },
      'oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string',
    ],
    [
      { ...good, aud: 1 },
      'oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.aud of type []string',
    ],
    [
      { ...good, exp: 'soon' },
      'oidc: failed to unmarshal claims: json: invalid number literal, trying to unmarshal "\\"soon\\"" into Number',
    ],
    [{ ...good, _claim_names: { groups: 'a' } }, 'oidc: source does not exist'],
    [{ ...good, _claim_names: { groups: 'constructor' } }, 'oidc: source does not exist'],
    [{ ...good, _claim_names: { groups: '' } }, 'oidc: failed to obtain source from claim name'],
    [{ ...good, _claim_names: { groups: 'a' }, _claim_sources: { a: { JWT: 'x' } } }, ''],
  ]
  for (const [claims, why] of cases) assert.equal(whyNot(claims), why, JSON.stringify(claims))
})

test('an ID token with a signature algorithm that is not allowed is rejected before any key is tried', () => {
  for (const algorithm of ['none', 'HS256', 'RS512', '']) {
    const why = `oidc: id token signed with unsupported algorithm, expected ["RS256" "ES256"] got "${algorithm}"`
    assert.equal(whyNot(good, { algorithm }), why)
  }
})

test('an ID token is accepted if one of its audiences is configured', () => {
  const audiences = ['b', 'a']
  assert.equal(whyNot({ ...good, aud: ['x', 'a'] }, { audiences }), '')
  assert.equal(
    whyNot({ ...good, aud: 'x' }, { audiences }),
    'oidc: expected audience in ["a" "b"] got ["x"]',
  )
})

test('an issuer without a URL scheme is accepted only in the ID tokens of Google', () => {
  assert.ok(isIssuer('accounts.google.com', 'https://accounts.google.com'))
  assert.ok(!isIssuer('accounts.example.com', 'https://accounts.example.com'))
  assert.ok(!isIssuer('https://accounts.google.com', 'accounts.google.com'))
})
