import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import type { PeerCertificate } from '../../api/request.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { createAuthority, issue } from '../../lib/x509/certificates.ts'
import { der, sequence } from '../../lib/x509/der.ts'
import { SigningAuthority } from '../../lib/x509/signing-authority.ts'
import { type Authenticate, createAuthenticate } from './authenticate.ts'
import { reviewedToken } from './bearer-token.ts'
import { AuthenticationMetrics } from './metrics.ts'
import { createStaticTokens } from './static-tokens.ts'
import { createVerifyCertificate } from './client-certificate.ts'

const user = (name: string) => ({ name, uid: '', groups: ['g'] })
const tokens = [
  { token: 'a', user: user('first') },
  { token: 'b', user: user('b') },
  { token: 'a', user: user('last') },
]
const quiet = { warn: () => undefined }
const logged: string[] = []
const log: Log = (_level, message, fields) =>
  logged.push(`${message}: ${String(fields?.['error'])}`)
const metrics = new Metrics()
const lifetimes = { observe: () => undefined }
const reported = {
  log,
  metrics: new AuthenticationMetrics(metrics),
  clock: { monotonicMs: () => 0 },
}
const ofTokens = createStaticTokens(tokens, [])
const authenticateToken = (token: string) => ofTokens(token, [])
const anonymous = { isEnabled: true, paths: [] }
const authenticate = createAuthenticate({ authenticateToken, anonymous, ...reported })
const closed = createAuthenticate({
  authenticateToken,
  anonymous: { isEnabled: false, paths: [] },
  ...reported,
})

/**
 * Returns the user name, or `401` if the request is rejected. Appends ", warned" if the response
 * has a warning.
 */
function seen(
  headers: IncomingHttpHeaders,
  by: Authenticate = authenticate,
  peer?: PeerCertificate,
  path = '/api',
): string {
  const warnings: string[] = []
  try {
    const found = by(
      { headers, path, peerCertificate: () => peer },
      { warn: (text) => void warnings.push(text) },
      0,
    )
    assert.ok(!(found instanceof Promise))
    return warnings.length === 0 ? found.user.name : `${found.user.name}, warned`
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error)
    return warnings.length === 0 ? String(error.code) : `${String(error.code)}, warned`
  }
}

const headerCases: readonly [string | undefined, string][] = [
  ['Bearer a', 'last'],
  ['bearer b', 'b'],
  ['  BEARER b  more', 'b'],
  [undefined, 'system:anonymous'],
  ['', 'system:anonymous'],
  ['Bearer', 'system:anonymous'],
  ['Bearer ', 'system:anonymous'],
  ['Bearer\ta', 'system:anonymous'],
  ['Basic a', 'system:anonymous'],
  ['a', 'system:anonymous'],
  ['Bearer  a', 'system:anonymous, warned'],
  ['Bearer c', '401'],
  ['Bearer ab', '401'],
  ['\tBearer b\t', 'b'],
  ['Bearer b\u00a0', '401'],
]
for (const [authorization, wanted] of headerCases) {
  test(`the Authorization header ${JSON.stringify(authorization)} results in ${wanted}`, () => {
    assert.equal(seen(authorization === undefined ? {} : { authorization }), wanted)
  })
}

test('the token of a TokenReview ends at the first whitespace character', () => {
  assert.deepEqual(['b', 'b\u00a0', 'b\n', 'b c', ' b', ' '].map(reviewedToken), [
    'b',
    'b',
    'b',
    'b',
    undefined,
    undefined,
  ])
})

test('a valid token is required if anonymous requests are disabled', () => {
  assert.equal(seen({}, closed), '401')
  assert.equal(seen({ authorization: 'Bearer  b' }, closed), '401, warned')
  assert.equal(seen({ authorization: 'Bearer b' }, closed), 'b')
})

test('an authenticated user is a member of system:authenticated', () => {
  const found = authenticate(
    { headers: { authorization: 'Bearer b' }, path: '/', peerCertificate: () => undefined },
    quiet,
    0,
  )
  assert.ok(!(found instanceof Promise))
  assert.deepEqual(found.user.groups, ['g', 'system:authenticated'])
})

const protocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const websocketCases: readonly [string, string, string][] = [
  ['beside another subprotocol', `${protocol('b')}, v4.channel.k8s.io`, 'b'],
  ['without another subprotocol', protocol('b'), '401'],
  ['that is unknown', `${protocol('c')}, x`, '401'],
  ['beside a second token', `${protocol('a')}, ${protocol('b')}, x`, '401'],
  ['that is not base64url', 'base64url.bearer.authorization.k8s.io.***, x', '401'],
  ['with padding', 'base64url.bearer.authorization.k8s.io.YWI=, x', '401'],
  ['that is not UTF-8', 'base64url.bearer.authorization.k8s.io.__4, x', '401'],
  ['that is empty', 'base64url.bearer.authorization.k8s.io., x', 'system:anonymous'],
  ['that is missing', 'v4.channel.k8s.io', 'system:anonymous'],
  [
    'beyond the number of subprotocols that are read',
    `${'x,'.repeat(500)}${protocol('b')}`,
    'system:anonymous',
  ],
]
for (const [what, protocols, wanted] of websocketCases) {
  test(`a request with a token in a WebSocket subprotocol, ${what}, results in ${wanted}`, () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-protocol': protocols,
    }
    assert.equal(seen(headers), wanted)
    if (wanted === 'b') assert.equal(seen({ ...headers, authorization: 'Bearer nobody' }), 'b')
    assert.equal(seen({ 'sec-websocket-protocol': protocols }), 'system:anonymous')
  })
}

const now = Date.parse('2026-06-01T00:00:00Z')
const authority = createAuthority('test', now)
const client = (commonName: string, isVerified = true): PeerCertificate => {
  const organizations = ['system:masters', 'dev']
  const { certificatePem } = issue(authority, {
    commonName,
    organizations,
    usage: 'client',
    hosts: [],
    nowMs: now,
  })
  return { certificate: new X509Certificate(certificatePem), isVerified }
}
const faultOf = ({ isVerified }: PeerCertificate): string | undefined =>
  isVerified ? undefined : 'not ours'
const byCertificate = createAuthenticate({
  authenticateToken,
  verifyCertificate: createVerifyCertificate({
    faultOf,
    parsesUid: true,
    wallMs: () => now,
    lifetimes,
  }),
  anonymous,
  ...reported,
})

test('a verified client certificate yields its common name as the user and its organizations as groups', () => {
  const peer = client('jane')
  const found = byCertificate({ headers: {}, path: '/', peerCertificate: () => peer }, quiet, 0)
  assert.ok(!(found instanceof Promise))
  assert.equal(found.user.name, 'jane')
  assert.deepEqual(found.user.groups, ['system:masters', 'dev', 'system:authenticated'])
  const [id = ''] = found.user.extra?.['authentication.kubernetes.io/credential-id'] ?? []
  assert.match(id, /^X509SHA256=[0-9a-f]{64}$/)
})

test('a request with an unverified certificate is rejected, unless it also has a valid token', () => {
  const foreign = client('jane', false)
  assert.equal(seen({}, byCertificate, foreign), '401')
  assert.equal(seen({ authorization: 'Bearer b' }, byCertificate, foreign), 'b')
  assert.equal(seen({}, byCertificate, client('')), 'system:anonymous')
  assert.equal(seen({}, authenticate, foreign), 'system:anonymous')
})

test('a certificate is accepted only during its validity period', () => {
  const peer = client('jane')
  const clock = { now }
  const verifyCertificate = createVerifyCertificate({
    faultOf,
    parsesUid: true,
    wallMs: () => clock.now,
    lifetimes,
  })
  const later = createAuthenticate({ authenticateToken, verifyCertificate, anonymous, ...reported })
  assert.equal(seen({}, later, peer), 'jane')
  clock.now += 11 * 365 * 86_400_000
  assert.equal(seen({}, later, peer), '401')
  clock.now = now - 86_400_000
  assert.equal(seen({}, later, peer), '401')
})

test('anonymous requests can be restricted to a list of paths', () => {
  const some = createAuthenticate({
    authenticateToken,
    anonymous: { isEnabled: true, paths: ['/livez', ''] },
    ...reported,
  })
  const at = (path: string): string => seen({}, some, undefined, path)
  assert.deepEqual(['/livez', '', '/livez/', '/livez/ping', '/', '/LIVEZ', '/api'].map(at), [
    'system:anonymous',
    'system:anonymous',
    '401',
    '401',
    '401',
    '401',
    '401',
  ])
  assert.equal(seen({ authorization: 'Bearer b' }, some), 'b')
  assert.equal(seen({ authorization: 'Bearer c' }, some, undefined, '/livez'), '401')
})

test('the log contains the reason why a credential is rejected, but not the token', () => {
  logged.length = 0
  seen({}, closed)
  assert.deepEqual(logged, [])
  seen({ authorization: 'Bearer secret' }, byCertificate, client('jane', false))
  assert.match(
    logged.join('\n'),
    /^Unable to authenticate the request: verifying certificate SN=\d+ failed: not ours, invalid bearer token$/,
  )
})

/**
 * Returns a copy of the certificate with a different serial number. The signature of the copy is
 * invalid.
 */
function withSerial({ certificate: { raw } }: PeerCertificate, serial: Buffer): PeerCertificate {
  // In DER, the serial number follows the headers of two sequences and the version.
  const lengthAt = 14
  const [version, rest] = [
    raw.subarray(8, lengthAt - 1),
    raw.subarray(lengthAt + 1 + raw.readUInt8(lengthAt)),
  ]
  const bodyEnd = 8 + raw.readUInt16BE(6) - (raw.length - rest.length)
  const body = sequence(version, der(2, serial), rest.subarray(0, bodyEnd))
  return {
    certificate: new X509Certificate(sequence(body, rest.subarray(bodyEnd))),
    isVerified: false,
  }
}

function shownSerial(serial: Buffer): string | undefined {
  logged.length = 0
  assert.equal(seen({}, byCertificate, withSerial(client('jane', false), serial)), '401')
  return /SN=(\S+)/.exec(logged.join('\n'))?.[1]
}

test('a long serial number of a rejected certificate is truncated in the log', () => {
  assert.equal(shownSerial(Buffer.from([1, 0])), '256')
  assert.equal(shownSerial(Buffer.from([0xff])), '-1')
  assert.equal(shownSerial(Buffer.alloc(20, 0x7f)), String(BigInt(`0x${'7f'.repeat(20)}`)))
  assert.equal(shownSerial(Buffer.alloc(60_000, 0x7f)), `0x${'7F'.repeat(20)}...`)
  assert.equal(shownSerial(Buffer.alloc(60_000, 0x80)), `-0x${'7F'.repeat(20)}...`)
})

test('the subject of a rejected certificate is not read', () => {
  const { certificate } = client('jane', false)
  let reads = 0
  Object.defineProperty(certificate, 'raw', { get: () => reads++ })
  assert.equal(seen({}, byCertificate, { certificate, isVerified: false }), '401')
  assert.equal(reads, 0)
})

test('attack: a certificate whose key makes Node abort when the subject is read does not stop the server', async () => {
  const { certificatePem, keyPem } = createAuthority('clients', now)
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' })
  const subject = [{ id: '550403', text: 'jane' }]
  const names = { dns: [], emails: [], addresses: [], uris: [] }
  const issued = await new SigningAuthority(certificatePem, keyPem).issue(
    { commonName: 'jane', organizations: [], subject, names, publicKey },
    { notBeforeMs: now, notAfterMs: now + 3_600_000, usageBits: 1, extendedUsages: [] },
  )
  assert.equal(
    seen({}, byCertificate, { certificate: new X509Certificate(issued), isVerified: true }),
    'jane',
  )
})

test('authentication attempts are counted by result, and authenticated requests by a username label with few possible values', async () => {
  const all = new Metrics()
  const counted = { ...reported, metrics: new AuthenticationMetrics(all) }
  const entries = ['admin', 'jane', 'joe@example.org'].map((name) => ({
    token: name,
    user: user(name),
  }))
  const known = createStaticTokens(entries, [])
  const by = createAuthenticate({
    authenticateToken: (token) =>
      token === 'fails' ? Promise.reject(new Error('away')) : known(token, []),
    anonymous: { isEnabled: false, paths: [] },
    ...counted,
  })
  for (const token of ['admin', 'jane', 'jane', 'joe@example.org', 'nobody'])
    seen({ authorization: `Bearer ${token}` }, by)
  seen({}, by)
  const failing = {
    headers: { authorization: 'Bearer fails' },
    path: '/',
    peerCertificate: () => undefined,
  }
  await assert.rejects(async () => by(failing, quiet, 0), /away/)
  const lines = all.print().split('\n')
  const wanted = [
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="other"} 2',
    'authenticated_user_requests{username="email_id"} 1',
    'authentication_attempts{result="success"} 4',
    'authentication_attempts{result="failure"} 1',
    'authentication_attempts{result="error"} 2',
    'authentication_duration_seconds_count{result="success"} 4',
  ]
  for (const line of wanted) assert.ok(lines.includes(line), line)
})

test('the user of a static token is cached for a frozen header object, but not for a header object that can change', () => {
  const asked: string[] = []
  const by = createAuthenticate({
    fixedToken: (token) => {
      asked.push(token)
      return token === 'a' ? { user: user('fixed') } : undefined
    },
    authenticateToken,
    anonymous,
    ...reported,
  })
  const shared = Object.freeze({ authorization: 'Bearer a' })
  assert.deepEqual([seen(shared, by), seen(shared, by)], ['fixed', 'fixed'])
  const others = Object.freeze({ authorization: 'Bearer b' })
  assert.deepEqual([seen(others, by), seen(others, by)], ['b', 'b'])
  assert.deepEqual(asked, ['a', 'b'])
  const changing: { authorization?: string } = { authorization: 'Bearer a' }
  assert.equal(seen(changing, by), 'fixed')
  changing.authorization = 'Bearer b'
  assert.equal(seen(changing, by), 'b')
  delete changing.authorization
  assert.equal(seen(changing, by), 'system:anonymous')
})
