/**
 * Tests attacks with bearer tokens on a server that accepts tokens of ServiceAccounts, of Secrets
 * and of an OpenID issuer. Each attack must fail with the same response, which reveals nothing. The
 * server must not send requests to hosts that its configuration does not name.
 */
import assert from 'node:assert/strict'
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { exportPKCS8 } from 'jose'
import { StaticIssuer } from '../support/harness/static-issuer.ts'
import { until } from '../support/harness/until.ts'
import { type Answer, type Client, clients, startTestServer, type TestServer } from './support.ts'

const accountIssuer = 'https://kubernetes.default.svc'
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const path = '/api/v1/namespaces/default/pods'

const parts = new AsyncDisposableStack()
const keys = {
  /** The server's own key, with which it signs ServiceAccount tokens. */
  own: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  attacker: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
}
let dir = ''
let server: TestServer
let client: Client
let issuer: StaticIssuer
/**
 * A server to which the URLs in manipulated tokens refer. The API server must not connect to it.
 */
let trap: StaticIssuer
let issuerKey: KeyObject
let ownKeyId = ''
let account = { uid: '', token: '' }

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-attacks-'))
  issuer = parts.use(await StaticIssuer.start('RS256'))
  trap = parts.use(await StaticIssuer.start('RS256'))
  issuerKey = createPrivateKey(await exportPKCS8(issuer.privateKey))
  const keyFile = join(dir, 'sa.key')
  await writeFile(keyFile, keys.own.export({ type: 'pkcs8', format: 'pem' }))
  const file = join(dir, 'authentication.json')
  const jwt = {
    issuer: {
      url: issuer.url,
      certificateAuthority: issuer.caPem + trap.caPem,
      audiences: ['kubernetes'],
    },
    claimMappings: {
      username: { claim: 'sub', prefix: 'oidc:' },
      groups: { claim: 'groups', prefix: 'oidc:' },
    },
  }
  const apiVersion = 'apiserver.config.k8s.io/v1beta1'
  await writeFile(
    file,
    JSON.stringify({ apiVersion, kind: 'AuthenticationConfiguration', jwt: [jwt] }),
  )
  server = parts.use(
    await startTestServer([
      '--authorization-mode=AlwaysAllow',
      `--authentication-config=${file}`,
      `--service-account-issuer=${accountIssuer}`,
      `--service-account-signing-key-file=${keyFile}`,
    ]),
  )
  const created = clients['HTTP/1.1']?.(server.url)
  assert.ok(created)
  client = parts.use(created)
  account = await createAccount('default-user')
  ownKeyId = String(
    JSON.parse(Buffer.from(account.token.split('.')[0] ?? '', 'base64url').toString()).kid,
  )
})

after(async () => {
  await parts.disposeAsync()
  await rm(dir, { recursive: true, force: true })
})

async function createAccount(name: string, spec: object = {}) {
  const made = await client.call({ method: 'POST', path: accounts, body: { metadata: { name } } })
  const issued = await client.call({
    method: 'POST',
    path: `${accounts}/${name}/token`,
    body: { spec },
  })
  return {
    uid: String(JSON.parse(made.text).metadata.uid),
    token: String(JSON.parse(issued.text).status.token),
  }
}

const use = (token: string): Promise<Answer> => client.call({ path, token })

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1000)

/** Returns claims that would be valid if they were signed with the right key. */
const accountClaims = (more: object = {}) => ({
  iss: accountIssuer,
  aud: [accountIssuer],
  sub: 'system:serviceaccount:default:default-user',
  exp: now() + 600,
  iat: now(),
  nbf: now(),
  jti: 'x',
  'kubernetes.io': {
    namespace: 'default',
    serviceaccount: { name: 'default-user', uid: account.uid },
  },
  ...more,
})

const issuerClaims = (more: object = {}) => ({
  iss: issuer.url,
  aud: 'kubernetes',
  sub: 'jane',
  exp: now() + 600,
  iat: now(),
  ...more,
})

const legacyClaims = () => ({
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:default:default-user',
  'kubernetes.io/serviceaccount/namespace': 'default',
  'kubernetes.io/serviceaccount/secret.name': 's',
  'kubernetes.io/serviceaccount/service-account.name': 'default-user',
  'kubernetes.io/serviceaccount/service-account.uid': account.uid,
})

function signed(claims: object, key: KeyObject, header: object): string {
  const text = `${encode({ alg: 'RS256', ...header })}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** Signs claims that are given as text. */
function signedText(text: string, key: KeyObject, kid: string): string {
  const whole = `${encode({ alg: 'RS256', kid })}.${Buffer.from(text).toString('base64url')}`
  return `${whole}.${sign('sha256', Buffer.from(whole), key).toString('base64url')}`
}

/**
 * Returns the text of a JSON object with the fields of both objects. A name that occurs in both
 * objects occurs twice in the text.
 */
const twice = (first: object, last: object): string =>
  `${JSON.stringify(first).slice(0, -1)},${JSON.stringify(last).slice(1)}`

const byOwn = (claims: object, header: object = {}): string =>
  signed(claims, keys.own, { kid: ownKeyId, ...header })
const byIssuer = (claims: object, header: object = {}): string =>
  signed(claims, issuerKey, { kid: 'own', ...header })
const byAttacker = (claims: object, header: object): string => signed(claims, keys.attacker, header)

const publicOf = (key: KeyObject): KeyObject => createPublicKey(key)
const pemOf = (key: KeyObject): string =>
  publicOf(key).export({ type: 'spki', format: 'pem' }).toString()

function hmac(claims: object, secret: string | Buffer, header: object): string {
  const text = `${encode({ alg: 'HS256', ...header })}.${encode(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

/**
 * Returns valid claims of a ServiceAccount token and of an OpenID token. For each, also returns the
 * key that signs them and the ID of the key.
 */
const kinds = (): readonly {
  readonly claims: object
  readonly kid: string
  readonly key: KeyObject
}[] => [
  { claims: accountClaims(), kid: ownKeyId, key: keys.own },
  { claims: issuerClaims(), kid: 'own', key: issuerKey },
]

test('valid tokens are accepted', async () => {
  for (const token of [account.token, byOwn(accountClaims()), byIssuer(issuerClaims())]) {
    assert.equal((await use(token)).status, 200)
  }
})

const attacks: { readonly [name: string]: () => readonly string[] } = {
  'no signature': () =>
    kinds().flatMap(({ claims, kid, key }) =>
      ['none', 'None', 'NONE', '', 'RS256'].flatMap((alg) => {
        const head = encode({ alg, kid })
        const signature = signed(claims, key, { kid }).split('.')[2] ?? ''
        const text = `${head}.${encode(claims)}`
        return alg === 'RS256'
          ? [`${text}.`]
          : [`${text}.`, `${text}.${signature}`, `${encode({ alg })}.${encode(claims)}.`]
      }),
    ),
  'a public key as the secret of an HMAC': () =>
    kinds().flatMap(({ claims, kid, key }) => {
      const der = publicOf(key).export({ type: 'spki', format: 'der' })
      return [pemOf(key), pemOf(key).trim(), der, '', 'secret'].flatMap((secret) => [
        hmac(claims, secret, { kid }),
        hmac(claims, secret, {}),
      ])
    }),
  'a key of the attacker with any key id': () =>
    kinds().flatMap(({ claims, kid }) =>
      [
        kid,
        '',
        'own',
        ownKeyId,
        '../keys',
        '/dev/null',
        "' OR 1=1",
        'x'.repeat(5000),
        '\u0000',
        '__proto__',
        'constructor',
      ].map((name) => byAttacker(claims, { kid: name })),
    ),
  'a key id that is not a string': () =>
    kinds().flatMap(({ claims, key }) =>
      [null, 1, [ownKeyId], { a: 1 }, true]
        .map((kid) => byAttacker(claims, { kid }))
        .concat(signed(claims, key, { kid: {} })),
    ),
  'keys in the header': () =>
    kinds().flatMap(({ claims, kid }) => {
      const jwk = publicOf(keys.attacker).export({ format: 'jwk' })
      const x5c = [
        publicOf(keys.attacker).export({ type: 'spki', format: 'der' }).toString('base64'),
      ]
      return [
        { jwk },
        { jku: `${trap.url}/keys` },
        { x5u: `${trap.url}/keys` },
        { x5c },
        { x5t: 'x' },
      ].flatMap((header) => [byAttacker(claims, { kid, ...header }), byAttacker(claims, header)])
    }),
  'headers that must be understood': () =>
    kinds().flatMap(({ claims, kid, key }) =>
      [
        { crit: ['exp'], exp: 1 },
        { crit: ['b64'], b64: true },
        { crit: ['b64'], b64: false },
        { crit: [] },
        { crit: 'x' },
      ].map((header) => signed(claims, key, { kid, ...header })),
    ),
  'the key of one issuer for tokens of the other': () => [
    byIssuer(accountClaims(), { kid: ownKeyId }),
    byIssuer(accountClaims()),
    signed(accountClaims(), issuerKey, {}),
    byOwn(issuerClaims(), { kid: 'own' }),
    byOwn(issuerClaims()),
    signed(issuerClaims(), keys.own, {}),
    byIssuer(legacyClaims(), { kid: ownKeyId }),
    signed(legacyClaims(), issuerKey, {}),
  ],
  'other audiences': () => [
    byOwn(accountClaims({ aud: ['other'] })),
    byOwn(accountClaims({ aud: [] })),
    byOwn(accountClaims({ aud: undefined })),
    byOwn(accountClaims({ aud: 'kubernetes' })),
    byOwn(accountClaims({ aud: [`${accountIssuer}/`] })),
    byIssuer(issuerClaims({ aud: accountIssuer })),
    byIssuer(issuerClaims({ aud: ['other', accountIssuer] })),
    byIssuer(issuerClaims({ aud: undefined })),
    byIssuer(issuerClaims({ aud: { kubernetes: true } })),
  ],
  'other issuers': () => [
    byOwn(accountClaims({ iss: 'https://other' })),
    byOwn(accountClaims({ iss: `${accountIssuer}/` })),
    byOwn(accountClaims({ iss: [accountIssuer] })),
    byOwn(accountClaims({ iss: issuer.url })),
    byIssuer(issuerClaims({ iss: accountIssuer })),
    byIssuer(issuerClaims({ iss: `${issuer.url}/` })),
    byIssuer(issuerClaims({ iss: trap.url })),
    byIssuer(issuerClaims({ iss: undefined })),
  ],
  'tokens that are expired or not yet valid': () => [
    byOwn(accountClaims({ exp: now() - 120 })),
    byOwn(accountClaims({ exp: undefined })),
    byOwn(accountClaims({ exp: 'never' })),
    byOwn(accountClaims({ nbf: now() + 120 })),
    byOwn(accountClaims({ iat: now() + 120 })),
    byIssuer(issuerClaims({ exp: now() - 2 })),
    byIssuer(issuerClaims({ exp: undefined })),
    byIssuer(issuerClaims({ exp: null })),
    byIssuer(issuerClaims({ exp: -1 })),
    byIssuer(issuerClaims({ nbf: now() + 120 })),
  ],
  'tokens that are bound to missing objects': () => {
    const own = { namespace: 'default', serviceaccount: { name: 'default-user', uid: account.uid } }
    return [
      byOwn(accountClaims({ 'kubernetes.io': { ...own, pod: { name: 'none', uid: 'x' } } })),
      byOwn(accountClaims({ 'kubernetes.io': { ...own, secret: { name: 'none', uid: 'x' } } })),
      byOwn(accountClaims({ 'kubernetes.io': { ...own, node: { name: 'none', uid: 'x' } } })),
      byOwn(
        accountClaims({
          'kubernetes.io': { ...own, serviceaccount: { name: 'default-user', uid: 'x' } },
        }),
      ),
      byOwn(
        accountClaims({
          'kubernetes.io': { ...own, serviceaccount: { name: 'none', uid: account.uid } },
        }),
      ),
      byOwn(accountClaims({ 'kubernetes.io': { ...own, namespace: '../kube-system' } })),
      byOwn(accountClaims({ 'kubernetes.io': undefined })),
      byOwn(legacyClaims()),
    ]
  },
  'claims that were changed': () =>
    kinds().flatMap(({ claims, kid, key }) => {
      const [head = '', , signature = ''] = signed(claims, key, { kid }).split('.')
      const other = encode({ ...claims, sub: 'system:admin', groups: ['system:masters'] })
      return [
        `${head}.${other}.${signature}`,
        `${head}.${other}.`,
        `${encode({ alg: 'RS512', kid })}.${other}.${signature}`,
      ]
    }),
  'signatures of zeros': () => {
    const zeros = Buffer.alloc(64).toString('base64url')
    return kinds().flatMap(({ claims, kid }) =>
      ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'].map(
        (alg) => `${encode({ alg, kid })}.${encode(claims)}.${zeros}`,
      ),
    )
  },
  'other formats of a token': () => {
    const [head = '', body = '', signature = ''] = byOwn(accountClaims()).split('.')
    return [
      JSON.stringify({ protected: head, payload: body, signature }).replaceAll(' ', ''),
      `${head}.${body}.${signature}.`,
      `.${head}.${body}.${signature}`,
      `${head}.${body}`,
      `${head}.${body}.${signature}=`,
      `${head}.${body}.${signature}`.replaceAll('.', '..'),
      `${head}.${body}.${signature}.x.y`,
      `${Buffer.from('{"alg":"RS256"').toString('base64url')}.${body}.${signature}`,
      `${head}.${Buffer.from('[]').toString('base64url')}.${signature}`,
    ]
  },
  'duplicate claims': () => {
    return [
      signedText(twice(issuerClaims(), accountClaims()), issuerKey, 'own'),
      signedText(twice(accountClaims(), { iss: issuer.url }), keys.own, ownKeyId),
      signedText(twice(issuerClaims(), { exp: 1 }), issuerKey, 'own'),
    ]
  },
}

const refusal = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized',
}

/** Returns the response to an attack without the headers that differ in every response. */
function shownOf({ status, headers, text }: Answer): string {
  const { date: _, 'audit-id': __, ...rest } = headers
  return `${status} ${JSON.stringify(Object.entries(rest).toSorted(([a], [b]) => a.localeCompare(b)))} ${text}`
}

test('the response to an unknown token does not reveal why the token is rejected', async () => {
  const answer = await use('nobody')
  assert.equal(answer.status, 401)
  assert.deepEqual(JSON.parse(answer.text), { ...refusal, reason: 'Unauthorized', code: 401 })
  assert.equal(answer.headers['www-authenticate'], undefined)
})

for (const [name, tokens] of Object.entries(attacks)) {
  test(`a token is rejected with the same response as an unknown token: ${name}`, async () => {
    const unknown = shownOf(await use('nobody'))
    for (const token of tokens()) assert.equal(shownOf(await use(token)), unknown, token)
  })
}

test('a token that is bound to a pod becomes invalid when the pod is deleted', async () => {
  const pods = '/api/v1/namespaces/default/pods'
  const pod = {
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] },
  }
  assert.equal((await client.call({ method: 'POST', path: pods, body: pod })).status, 201)
  const bound = await createAccount('bound', {
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' },
  })
  assert.equal((await use(bound.token)).status, 200)
  await client.call({ method: 'DELETE', path: `${pods}/p`, body: { gracePeriodSeconds: 0 } })
  await until(async () => (await use(bound.token)).status === 401, 'the token is refused')
  assert.equal((await client.call({ method: 'POST', path: pods, body: pod })).status, 201)
  assert.equal((await use(bound.token)).status, 401, 'a pod of the same name is another one')
})

test('an issuer cannot create service account tokens, and its claims cannot name a service account', async () => {
  const token = byIssuer(
    issuerClaims({ ...accountClaims(), iss: issuer.url, aud: 'kubernetes', sub: 'jane' }),
  )
  const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { text } = await client.call({ method: 'POST', path: review, token, body: {} })
  const { username, groups } = JSON.parse(text).status.userInfo
  assert.equal(username, 'oidc:jane')
  assert.deepEqual(groups, ['system:authenticated'])
})

test('a flood of tokens with unknown keys does not cause a flood of requests to the issuer', async () => {
  const known = issuer.requests.length
  const flood = Array.from({ length: 200 }, (_, at) =>
    use(byAttacker(issuerClaims(), { kid: `k${at}` })),
  )
  for (const { status } of await Promise.all(flood)) assert.equal(status, 401)
  const fetches = issuer.requests.length - known
  assert.ok(fetches <= 20, `${fetches} requests`)
  assert.equal((await use(byIssuer(issuerClaims()))).status, 200)
})

test('attacks with tokens do not make the server send requests to servers other than the issuer', () => {
  assert.deepEqual(trap.requests, [])
  assert.deepEqual(
    server.complaints.filter((text) => /eyJ[A-Za-z0-9_-]{20}/.test(text)),
    [],
    'no token is in the log',
  )
})

/** Sends a TokenReview with this number of audiences. */
function reviewFor(count: number): Promise<Answer> {
  const audiences = Array.from({ length: count }, (_, at) => `a${at}`)
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: account.token, audiences },
  }
  return client.call({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body })
}

test('attack: a review with too many audiences is rejected', async () => {
  assert.equal((await reviewFor(256)).status, 201)
  const { status, text } = await reviewFor(257)
  assert.equal(status, 422)
  assert.match(text, /spec\.audiences: Too many: 257: must have at most 256 items/)
})
