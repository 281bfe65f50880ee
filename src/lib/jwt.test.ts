import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import {
  type ParseJson,
  parseJwt,
  readSigningKey,
  readVerifyingKeys,
  signJwt,
  verifyJwt,
} from './jwt.ts'

const pairs: readonly [
  string,
  { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
][] = [
  ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
]
const parse: ParseJson = (bytes) => JSON.parse(bytes.toString('utf8'))
const publicPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()
const privatePem = (key: KeyObject): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString()

for (const [algorithm, { publicKey, privateKey }] of pairs) {
  test(`${algorithm}: a token is verified only with the public key that belongs to its signing key`, () => {
    const signing = readSigningKey(privatePem(privateKey))
    assert.equal(signing?.algorithm, algorithm)
    const token = signJwt({ sub: 'a' }, signing)
    const [verifying] = readVerifyingKeys(publicPem(publicKey))
    const jwt = parseJwt(token, parse)
    assert.ok(verifying !== undefined && jwt !== undefined)
    assert.deepEqual([jwt.claims, jwt.keyId], [{ sub: 'a' }, verifying.id])
    assert.ok(verifyJwt(jwt, verifying))
    const forged = parseJwt(
      `${token.slice(0, token.indexOf('.'))}.${btoa('{"sub":"b"}')}.${token.split('.')[2]}`,
      parse,
    )
    assert.ok(forged === undefined || !verifyJwt(forged, verifying))
    for (const [, other] of pairs.filter(([name]) => name !== algorithm)) {
      const [otherKey] = readVerifyingKeys(publicPem(other.publicKey))
      assert.ok(otherKey !== undefined && !verifyJwt(jwt, otherKey))
    }
  })
}

const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const [ownKey] = readVerifyingKeys(publicPem(own.publicKey))
const isVerified = (token: string): boolean => {
  const jwt = parseJwt(token, parse)
  return jwt !== undefined && ownKey !== undefined && verifyJwt(jwt, ownKey)
}

/** A token that is signed correctly, but with another header. */
function signedWith(header: object): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const signed = `${head}.${Buffer.from('{"sub":"a"}').toString('base64url')}`
  const signature = sign('sha256', Buffer.from(signed), {
    key: own.privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${signed}.${signature.toString('base64url')}`
}

const headers: readonly [object, boolean][] = [
  [{ alg: 'ES256' }, true],
  [{ alg: 'ES256', crit: ['exp'], exp: 1 }, false],
  [{ alg: 'ES256', crit: [] }, false],
  [{ alg: 'ES384' }, false],
  [{ alg: 'none' }, false],
  [{}, false],
  [{ alg: 1 }, false],
  [{ alg: 'ES256', kid: 1 }, false],
]
for (const [header, wanted] of headers) {
  test(`a token with the header ${JSON.stringify(header)} is ${wanted ? 'accepted' : 'rejected'}`, () => {
    assert.equal(isVerified(signedWith(header)), wanted)
  })
}

test('a token is accepted only in strict base64url, without padding, whitespace or other characters', () => {
  const token = signedWith({ alg: 'ES256' })
  assert.ok(isVerified(token))
  for (const bad of [
    `${token}=`,
    `${token} `,
    `${token}\n`,
    `${token}AAA`,
    token.replace('.', '=.'),
    `\t${token}`,
  ]) {
    assert.equal(parseJwt(bad, parse), undefined, JSON.stringify(bad))
  }
  const [head, body, signature = ''] = token.split('.')
  const other = Buffer.from(signature, 'base64url').toString('base64').replaceAll('=', '')
  assert.equal(isVerified(`${head}.${body}.${other}`), other === signature)
})

test('a text that is not a JWT is rejected', () => {
  for (const text of [
    '',
    'a',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    '..',
    `${btoa('[]')}.${btoa('{}')}.x`,
    'e30.e30',
  ]) {
    assert.equal(parseJwt(text, parse), undefined, text)
  }
})

test('a token without a signature is not verified with any key', () => {
  for (const { alg } of [{ alg: 'none' }, { alg: 'ES256' }]) {
    const token = `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.e30.`
    assert.equal(parseJwt(token, parse)?.algorithm, alg)
    assert.ok(!isVerified(token))
  }
})

test('a PEM file can contain several keys, and everything else in the file is skipped', () => {
  const [first, second] = pairs.map(([, pair]) => pair)
  assert.ok(first !== undefined && second !== undefined)
  const text = `text\n${publicPem(first.publicKey)}\n${privatePem(second.privateKey)}`
  assert.deepEqual(
    readVerifyingKeys(text).map(({ algorithm }) => algorithm),
    ['RS256', 'ES256'],
  )
  assert.deepEqual(
    readVerifyingKeys('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'),
    [],
  )
  assert.equal(readSigningKey('nothing'), undefined)
})
