import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { jwtCompiler, readJwtAuthenticator } from '../../../config/files/jwt-authenticator.ts'
import { TokenFault } from './claim-values.ts'
import { mapClaims } from './map-claims.ts'

const issuer = { url: 'https://i', audiences: ['app'] }
const compiler = jwtCompiler()

async function mapped(claims: Fields, config: Fields): Promise<User | string> {
  const { value, faults } = readJwtAuthenticator(
    { issuer, ...config },
    { path: 'jwt', disallowedIssuers: [], compiler },
  )
  assert.deepEqual(faults, [])
  try {
    return await mapClaims(claims, value, async (question) => question.answer())
  } catch (error) {
    assert.ok(error instanceof TokenFault)
    return error.message
  }
}

const sub = { username: { claim: 'sub', prefix: 'p:' } }

test('a prefix is added to user names and groups that are mapped from claims', async () => {
  const claimMappings = { ...sub, groups: { claim: 'roles', prefix: 'g:' }, uid: { claim: 'oid' } }
  const claims = { sub: 'a', roles: ['x', 'y'], oid: '7', jti: 'j' }
  assert.deepEqual(await mapped(claims, { claimMappings }), {
    name: 'p:a',
    groups: ['g:x', 'g:y'],
    uid: '7',
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j'] },
  })
  const one = await mapped({ sub: 'a', roles: 'x', oid: '7' }, { claimMappings })
  assert.ok(typeof one === 'object')
  assert.deepEqual(one.groups, ['g:x'])
})

test('a token with a claim that is missing or of the wrong type is rejected', async () => {
  const claimMappings = { ...sub, groups: { claim: 'roles', prefix: '' }, uid: { claim: 'oid' } }
  const cases: readonly [Fields, string][] = [
    [{ oid: '7' }, 'oidc: parse username claims "sub": claim not present'],
    [
      { sub: 1 },
      'oidc: parse username claims "sub": json: cannot unmarshal number into Go value of type string',
    ],
    [
      { sub: 'a', roles: 1 },
      'oidc: parse groups claim "roles": json: cannot unmarshal number into Go value of type string',
    ],
    [
      { sub: 'a', roles: ['x', 1] },
      'oidc: parse groups claim "roles": json: cannot unmarshal array into Go value of type string',
    ],
    [{ sub: 'a' }, 'oidc: parse uid claim "oid": claim not present'],
  ]
  for (const [claims, why] of cases) assert.equal(await mapped(claims, { claimMappings }), why)
})

test('a token whose email address is not verified is rejected', async () => {
  const claimMappings = { username: { claim: 'email', prefix: '' } }
  const email = 'a@example.com'
  assert.equal(
    await mapped({ email, email_verified: false }, { claimMappings }),
    'oidc: email not verified',
  )
  const why =
    "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool"
  assert.equal(await mapped({ email, email_verified: 'true' }, { claimMappings }), why)
  for (const claims of [{ email }, { email, email_verified: true }]) {
    const user = await mapped(claims, { claimMappings })
    assert.ok(typeof user === 'object')
    assert.equal(user.name, email)
  }
})

test('CEL expressions map the claims of a token to a user', async () => {
  const claimMappings = {
    username: { expression: "claims.sub + ':' + claims.tenant.name" },
    groups: { expression: 'claims.roles.split(",")' },
    uid: { expression: 'string(claims.number)' },
    extra: [
      { key: 'example.com/a', valueExpression: 'claims.list' },
      { key: 'example.com/b', valueExpression: 'claims.?absent.orValue("")' },
    ],
  }
  const claims = { sub: 'a', tenant: { name: 't' }, roles: 'x,,y', number: 7, list: ['p', '', 'q'] }
  assert.deepEqual(await mapped(claims, { claimMappings }), {
    name: 'a:t',
    groups: ['x', 'y'],
    uid: '7',
    extra: { 'example.com/a': ['p', 'q'] },
  })
})

test('a token is rejected if a CEL expression for its claims fails or returns the wrong type', async () => {
  const cases: readonly [Fields, string][] = [
    [
      { username: { expression: 'claims.number' } },
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    ],
    [
      { username: { expression: 'claims.empty' } },
      'oidc: empty username via CEL expression is not allowed',
    ],
    [
      { username: { expression: 'claims.absent' } },
      "oidc: error evaluating username claim expression: expression 'claims.absent' resulted in error: no such key: absent",
    ],
    [
      { ...sub, groups: { expression: 'claims.number' } },
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      { ...sub, uid: { expression: 'claims.number' } },
      'oidc: error evaluating uid claim expression: uid claim expression must return a string',
    ],
    [
      { ...sub, extra: [{ key: 'example.com/a', valueExpression: '[1]' }] },
      'oidc: error evaluating extra claim expression: [1]: expression must return a string or a list of strings',
    ],
    [
      { ...sub, extra: [{ key: 'example.com/a', valueExpression: 'claims.absent' }] },
      "expression 'claims.absent' resulted in error: no such key: absent",
    ],
  ]
  for (const [claimMappings, why] of cases) {
    assert.equal(await mapped({ sub: 'a', number: 7, empty: '' }, { claimMappings }), why)
  }
})

test('a token that violates a validation rule for claims or for the user is rejected', async () => {
  const config = {
    claimMappings: { ...sub, groups: { claim: 'roles', prefix: '' } },
    claimValidationRules: [
      { claim: 'hd', requiredValue: 'example.com' },
      { expression: 'claims.exp - claims.nbf <= 86400', message: 'at most a day' },
    ],
    userValidationRules: [
      { expression: "!user.username.startsWith('p:system:')", message: 'reserved' },
      { expression: "user.groups.all(group, !group.startsWith('system:'))" },
      { expression: "user.uid == '' && user.extra.size() == 0" },
    ],
  }
  const claims = { sub: 'a', hd: 'example.com', exp: 86400, nbf: 0 }
  const user = await mapped(claims, config)
  assert.ok(typeof user === 'object')
  const cases: readonly [Fields, string][] = [
    [
      { ...claims, hd: 'x' },
      'oidc: required claim hd value does not match. Got = x, want = example.com',
    ],
    [
      { ...claims, hd: 1 },
      'oidc: parse claim hd: json: cannot unmarshal number into Go value of type string',
    ],
    [{ sub: 'a', exp: 1, nbf: 1 }, 'oidc: required claim hd not present in ID token'],
    [
      { ...claims, exp: 86401 },
      "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.nbf <= 86400' failed: at most a day",
    ],
    [
      { ...claims, sub: 'system:x' },
      "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('p:system:')' failed: reserved",
    ],
    [
      { ...claims, roles: ['system:masters'] },
      "oidc: error evaluating user info validation rule: validation expression 'user.groups.all(group, !group.startsWith('system:'))' failed: ",
    ],
  ]
  for (const [wrong, why] of cases) assert.equal(await mapped(wrong, config), why)
})
