/**
 * Tests users of OpenID issuers: a real provider over TLS, key rotation, several issuers, issuers
 * that are down, and a configuration file that changes.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OpenIdProvider } from '../support/harness/openid-provider.ts'
import { StaticIssuer } from '../support/harness/static-issuer.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

const FOUND_MS_MAX = 30_000
const users = {
  jane: { email: 'jane@example.com', groups: ['dev', 'ops'] },
  joe: { email: 'joe@example.com' },
}

type Issuing = { readonly url: string; readonly caPem: string }

/** Returns the configuration file of an authenticator as JSON, which is also valid YAML. */
const authenticator = ({ url, caPem }: Issuing, prefix: string, more: object = {}) => ({
  issuer: { url, certificateAuthority: caPem, audiences: ['kubernetes'] },
  claimMappings: { username: { claim: 'sub', prefix }, groups: { claim: 'groups', prefix } },
  ...more,
})

const fileOf = (...jwt: readonly object[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt,
  })

const parts = new AsyncDisposableStack()
let dir = ''

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-openid-'))
})

after(async () => {
  await parts.disposeAsync()
  await rm(dir, { recursive: true, force: true })
})

let files = 0

/** Starts a server with this text in the file of --authentication-config. */
async function serve(content: string, args: readonly string[] = []) {
  const path = join(dir, `authentication-${files++}.json`)
  await writeFile(path, content)
  return start([`--authentication-config=${path}`, ...args], path)
}

async function start(args: readonly string[], path = '') {
  const server = parts.use(await startTestServer(['--authorization-mode=RBAC', ...args]))
  const client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  parts.use(client)
  return { server, client, path }
}

async function whoAmI(client: Client, token: string) {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { status, text } = await client.call({ method: 'POST', path, token, body: {} })
  return status === 201 ? JSON.parse(text).status.userInfo : status
}

async function whyNot(client: Client, token: string): Promise<string> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  const { text } = await client.call({ method: 'POST', path, body: { spec: { token } } })
  return JSON.parse(text).status.error ?? ''
}

/** Waits until the server authenticates the user. */
async function known(client: Client, token: string) {
  const untilMs = performance.now() + FOUND_MS_MAX
  for (;;) {
    const user = await whoAmI(client, token)
    if (typeof user === 'object') return user
    assert.ok(performance.now() < untilMs, `refused: ${await whyNot(client, token)}`)
    await sleep(50)
  }
}

const asIssuing = ({ issuer, caPem }: OpenIdProvider): Issuing => ({ url: issuer, caPem })

async function startProvider(clientId = 'kubernetes'): Promise<OpenIdProvider> {
  const provider = parts.use(await OpenIdProvider.create({ clientId, users }))
  await provider.start()
  return provider
}

test('a user logs in to a real provider, and the claims of the token determine the user and the groups', async () => {
  const provider = await startProvider()
  const { client } = await serve(fileOf(authenticator(asIssuing(provider), 'oidc:')))
  const { idToken } = await provider.login('jane')
  const user = await known(client, idToken)
  assert.equal(user.username, 'oidc:jane')
  assert.deepEqual(user.groups, ['oidc:dev', 'oidc:ops', 'system:authenticated'])
  const pods = { path: '/api/v1/namespaces/default/pods', token: idToken }
  assert.equal((await client.call(pods)).status, 403)
  const binding = {
    metadata: { name: 'devs' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:dev' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  }
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  assert.equal((await client.call({ method: 'POST', path, body: binding })).status, 201)
  assert.equal((await client.call(pods)).status, 200)
})

test('an issuer can be configured with flags', async () => {
  const provider = await startProvider()
  const caFile = join(dir, 'ca.pem')
  await writeFile(caFile, provider.caPem)
  const { client } = await start([
    `--oidc-issuer-url=${provider.issuer}`,
    '--oidc-client-id=kubernetes',
    `--oidc-ca-file=${caFile}`,
    '--oidc-username-claim=email',
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=g:',
    '--oidc-required-claim=email=jane@example.com',
  ])
  const user = await known(client, (await provider.login('jane')).idToken)
  assert.equal(user.username, 'jane@example.com')
  assert.deepEqual(user.groups, ['g:dev', 'g:ops', 'system:authenticated'])
  assert.equal(await whoAmI(client, (await provider.login('joe')).idToken), 401)
})

test('the tokens of an issuer stay valid during a key rotation, until their key is withdrawn', async () => {
  const provider = await startProvider()
  const { client } = await serve(fileOf(authenticator(asIssuing(provider), '')))
  const logins = [await provider.login('jane'), await provider.login('joe')]
  const tokens = logins.map(({ idToken }) => idToken)
  for (const token of tokens) await known(client, token)
  let isOver = false
  const working = tokens.map(async (_, at) => {
    let requests = 0
    for (; !isOver; requests++) {
      const user = await whoAmI(client, tokens[at] ?? '')
      assert.equal(user.username, ['jane', 'joe'][at], 'no client is refused')
    }
    return requests
  })
  for (let rotation = 0; rotation < 5; rotation++) {
    await provider.rotate({ keepsOld: true })
    for (const [at, login] of logins.entries()) tokens[at] = await login.refresh()
    await sleep(50)
  }
  isOver = true
  for (const requests of await Promise.all(working)) assert.ok(requests > 5)
  // Issue a new token with the key that is withdrawn next. Tokens from the same second are
  // identical, so an older token might already be in the server's cache.
  await provider.rotate({ keepsOld: true })
  const withdrawn = await logins[0]?.refresh()
  await provider.rotate({ keepsOld: false })
  assert.equal((await whoAmI(client, (await logins[0]?.refresh()) ?? '')).username, 'jane')
  assert.equal(
    await whoAmI(client, withdrawn ?? ''),
    401,
    'a key that was withdrawn is forgotten with the next fetch',
  )
})

test('two issuers have separate users, and neither can issue tokens for the other', async () => {
  const [one, two] = [
    parts.use(await StaticIssuer.start()),
    parts.use(await StaticIssuer.start('RS256')),
  ]
  const { client } = await serve(fileOf(authenticator(one, 'one:'), authenticator(two, 'two:')))
  assert.equal((await known(client, await one.sign({ sub: 'a' }))).username, 'one:a')
  assert.equal((await known(client, await two.sign({ sub: 'a' }))).username, 'two:a')
  assert.equal(await whoAmI(client, await one.sign({ sub: 'a', iss: two.url })), 401)
  assert.equal(await whoAmI(client, await two.sign({ sub: 'a', iss: one.url })), 401)
  assert.equal(
    await whoAmI(client, await one.sign({ sub: 'a', iss: 'https://other.example.com' })),
    401,
  )
})

test('tokens that are expired, not yet valid or for another audience are rejected, and only a TokenReview returns the reason', async () => {
  const issuer = parts.use(await StaticIssuer.start())
  const { client } = await serve(fileOf(authenticator(issuer, '')))
  await known(client, await issuer.sign({ sub: 'a' }))
  const now = Math.floor(Date.now() / 1000)
  const cases: readonly [object, RegExp][] = [
    [{ aud: 'other' }, /verify token: oidc: expected audience "kubernetes" got \["other"\]/],
    [{ exp: now - 1 }, /oidc: token is expired \(Token Expiry: .* UTC\)/],
    [{ nbf: now + 120 }, /before the nbf \(not before\) time/],
    [{ sub: undefined }, /oidc: parse username claims "sub": claim not present/],
  ]
  for (const [claims, why] of cases) {
    const token = await issuer.sign({ sub: 'a', ...claims })
    const path = '/api/v1/namespaces/default/pods'
    const { status, text } = await client.call({ path, token })
    assert.equal(status, 401)
    const { kind, reason, message, details } = JSON.parse(text)
    assert.deepEqual(
      [kind, reason, message, details],
      ['Status', 'Unauthorized', 'Unauthorized', undefined],
    )
    assert.match(await whyNot(client, token), why)
  }
})

test('a server starts although an issuer is down, and accepts its tokens when the issuer is up', async () => {
  const provider = parts.use(await OpenIdProvider.create({ clientId: 'kubernetes', users }))
  const { client } = await serve(fileOf(authenticator(asIssuing(provider), '')))
  assert.equal((await client.call({ path: '/readyz' })).status, 200)
  await provider.start()
  const { idToken } = await provider.login('jane')
  assert.equal(await whoAmI(client, idToken), 401)
  assert.match(await whyNot(client, idToken), /oidc: authenticator not initialized/)
  assert.equal((await known(client, idToken)).username, 'jane')
  await provider.stop()
  await sleep(100)
  assert.equal((await whoAmI(client, idToken)).username, 'jane', 'known keys stay')
})

async function change(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}

const hasComplaint = (server: TestServer, text: string): boolean =>
  server.complaints.some((one) => one.includes(text))

test('all issuers are replaced in one step when the file changes, and an invalid file changes nothing', async () => {
  const [one, two] = [parts.use(await StaticIssuer.start()), parts.use(await StaticIssuer.start())]
  const { client, server, path } = await serve(fileOf(authenticator(one, 'one:')))
  await known(client, await one.sign({ sub: 'a' }))
  await change(path, fileOf(authenticator(one, 'one:'), { issuer: {} }))
  await until(
    () => hasComplaint(server, 'failed to validate authentication config'),
    'the fault is logged',
  )
  await change(path, 'no configuration')
  await until(
    () => hasComplaint(server, 'failed to load authentication config'),
    'the fault is logged',
  )
  assert.equal((await known(client, await one.sign({ sub: 'b' }))).username, 'one:b')
  await change(path, fileOf(authenticator(one, 'new:'), authenticator(two, 'two:')))
  await until(
    async () => (await whoAmI(client, await one.sign({ sub: 'c' }))).username === 'new:c',
    'the file is reloaded',
  )
  assert.equal((await whoAmI(client, await two.sign({ sub: 'c' }))).username, 'two:c')
  await change(path, fileOf(authenticator(two, 'two:')))
  await until(
    async () => (await whoAmI(client, await one.sign({ sub: 'd' }))) === 401,
    'the first issuer is gone',
  )
  const { text } = await client.call({ path: '/metrics' })
  const total =
    /apiserver_authentication_config_controller_automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="(\w+)"\} (\d+)/g
  const counts = Object.fromEntries(
    [...text.matchAll(total)].map(([, status, count]) => [status, Number(count)]),
  )
  assert.deepEqual(counts, { success: 2, failure: 2 })
  assert.match(
    text,
    /apiserver_authentication_jwt_authenticator_latency_seconds_count\{jwt_issuer_hash="sha256:[0-9a-f]{64}",result="success"\}/,
  )
})

test('a distributed groups claim is fetched from its claim source with the access token of this source', async () => {
  const [one, two] = [parts.use(await StaticIssuer.start()), parts.use(await StaticIssuer.start())]
  const { client } = await serve(
    fileOf(authenticator({ url: one.url, caPem: one.caPem + two.caPem }, 'o:')),
  )
  two.pages.set('/groups', (request, response) => {
    const isAllowed = request.headers.authorization === 'Bearer secret'
    void two
      .sign({ groups: ['far'] })
      .then((token) => response.writeHead(isAllowed ? 200 : 403).end(token))
  })
  const claims = (access_token: string) => ({
    sub: 'a',
    _claim_names: { groups: 'src' },
    _claim_sources: { src: { endpoint: `${two.url}/groups`, access_token } },
  })
  const user = await known(client, await one.sign(claims('secret')))
  assert.deepEqual(user.groups, ['o:far', 'system:authenticated'])
  const refused = await one.sign(claims('wrong'))
  assert.equal(await whoAmI(client, refused), 401)
  assert.match(
    await whyNot(client, refused),
    /could not expand distributed claims: .*403 Forbidden/,
  )
})

test('responses of an issuer have a size limit, and are only read over TLS', async () => {
  const [long, elsewhere] = [
    parts.use(await StaticIssuer.start()),
    parts.use(await StaticIssuer.start()),
  ]
  long.pages.set('/keys', (_, response) => {
    response.on('error', () => undefined)
    response.end(`{"keys":[${'"x",'.repeat(1 << 20)}]}`)
  })
  elsewhere.pages.set('/keys', (_, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/keys' }).end(),
  )
  const { client } = await serve(fileOf(authenticator(long, ''), authenticator(elsewhere, '')))
  const tokens = [await long.sign({ sub: 'a' }), await elsewhere.sign({ sub: 'a' })]
  const whys = [/the response has more than 1048576 bytes/, /URL scheme must be https/]
  for (const [at, token] of tokens.entries()) {
    await until(
      async () => !(await whyNot(client, token)).includes('not initialized'),
      'the issuer is discovered',
    )
    assert.match(await whyNot(client, token), whys[at] ?? /^$/)
    assert.equal(await whoAmI(client, token), 401)
  }
})
