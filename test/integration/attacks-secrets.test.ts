/**
 * Tests that credentials and secrets appear neither in the log, even at its highest verbosity, nor
 * in responses (CVE-2019-11250; findings TOB-K8S-001 and NCC-WVM). The requests of this test
 * contain them in every place where a client can put them.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseBody, createClient, type HttpAnswer } from '../recorded/compat/client.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import type { ApiServerProcess } from '../support/harness/api-server.ts'

const parts = new AsyncDisposableStack()
let server: ApiServerProcess

/** Values that must appear neither in the log nor in responses. */
const secrets = {
  bearer: 'bearer-93b1f0',
  basic: Buffer.from('ann:basic-93b1f1').toString('base64'),
  query: 'query-93b1f2',
  websocket: 'websocket-93b1f3',
  reviewed: 'reviewed-93b1f4',
  bootstrap: '93b1f5.93b1f593b1f593b1',
  signed: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"iss":"x"}').toString('base64url')}.x`,
  value: 'value-93b1f6',
  broken: 'broken-93b1f7',
  cookie: 'cookie-93b1f8',
}

before(async () => {
  const etcd = parts.use(await startEtcd())
  const args = ['--enable-bootstrap-token-auth', '--v=10']
  server = parts.use(await startKeelson({ etcdUrl: etcd.clientUrl, args }))
})

after(() => parts.disposeAsync())

type Ask = { readonly headers?: { readonly [name: string]: string | null }; readonly body?: string }

const as = (authorization: string): Ask => ({ headers: { authorization } })

test('attack: the log and the responses to refused requests contain no credentials', async () => {
  using client = createClient({ server: server.url, token: server.token })
  const answers: HttpAnswer[] = []
  const ask = async (
    method: string,
    path: string,
    { headers = {}, body }: Ask = {},
  ): Promise<HttpAnswer> => {
    const answer = await client.request({
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    answers.push(answer)
    return answer
  }
  for (const token of [secrets.bearer, secrets.bootstrap, secrets.signed])
    await ask('GET', '/api', as(`Bearer ${token}`))
  await ask('GET', '/api', as(`Basic ${secrets.basic}`))
  await ask('GET', `/api?access_token=${secrets.query}&token=${secrets.query}`, {
    headers: { authorization: null },
  })
  await ask('GET', '/api', { headers: { cookie: `token=${secrets.cookie}` } })
  const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(secrets.websocket).toString('base64url')}`
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-protocol': `${protocol}, v4.channel.k8s.io`,
  }
  await ask('GET', '/api/v1/pods?watch=1', { headers: { authorization: null, ...upgrade } })
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
  const review = await ask('POST', reviews, {
    body: JSON.stringify({ spec: { token: secrets.reviewed } }),
  })
  assert.equal(review.status, 201)
  const maps = '/api/v1/namespaces/default/secrets'
  const secretOf = (name: string): string =>
    JSON.stringify({ metadata: { name }, stringData: { a: secrets.value } })
  assert.equal((await ask('POST', maps, { body: secretOf('kept') })).status, 201)
  assert.equal((await ask('POST', maps, { body: secretOf('Not A Name') })).status, 422)
  assert.equal((await ask('POST', maps, { body: `{"data": {"a": ${secrets.broken}` })).status, 400)
  const patch = { 'content-type': 'application/merge-patch+json' }
  await ask('PATCH', `${maps}/kept`, { headers: patch, body: `{"data":{"a":"${secrets.broken}"}}` })
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await ask('POST', accounts, { body: JSON.stringify({ metadata: { name: 'sa' } }) })
  const issued = await ask('POST', `${accounts}/sa/token`, { body: '{}' })
  const { status }: { status: { token: string } } = JSON.parse(issued.raw.toString())
  await ask('GET', '/api', as(`Bearer ${status.token}`))
  await ask('GET', '/api', as(`Bearer ${status.token.slice(0, -3)}abc`))

  const { log } = server
  assert.match(log, /\S/)
  const all = { ...secrets, own: server.token, issued: status.token.split('.')[2] ?? '' }
  const logged = Object.entries(all).filter(([, secret]) => log.includes(secret))
  assert.deepEqual(logged, [], 'the log has credentials')
  // The response to a rejected request reveals nothing that the request contained.
  for (const { status: code, raw } of answers) {
    if (code !== 401 && code !== 403) continue
    const text = raw.toString()
    assert.ok(!Object.values(all).some((secret) => text.includes(secret)), `${code}: ${text}`)
  }
})

test('attack: responses do not reveal why a token is invalid', async () => {
  using client = createClient({ server: server.url })
  const answers: string[] = []
  for (const token of [
    secrets.bearer,
    secrets.bootstrap,
    secrets.signed,
    'a.b.c',
    'admin-toke',
    'admin-token1',
  ]) {
    const { status, headers, raw } = await client.request({
      method: 'GET',
      path: '/api',
      headers: { authorization: `Bearer ${token}` },
    })
    answers.push(JSON.stringify([status, parseBody(raw, headers['content-type'])]))
  }
  assert.equal(new Set(answers).size, 1, answers.join('\n'))
})
