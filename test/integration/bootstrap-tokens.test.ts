/**
 * Tests bootstrap tokens, with which nodes join a cluster. They are stored in Secrets of
 * kube-system. A token is valid as long as its Secret exists.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import {
  adminToken,
  type Answer,
  type Client,
  clients,
  startTestServer,
  type TestServer,
} from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer(['--enable-bootstrap-token-auth'])
  const created = clients['HTTP/2']?.(server.url)
  assert.ok(created)
  client = created
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  assert.deepEqual(server.complaints, [])
})

const secrets = '/api/v1/namespaces/kube-system/secrets'
const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const secret = '0123456789abcdef'

async function write(id: string, more: { readonly [key: string]: string } = {}): Promise<void> {
  const { status, text } = await client.call({
    method: 'POST',
    path: secrets,
    token: adminToken,
    body: {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': secret,
        'usage-bootstrap-authentication': 'true',
        ...more,
      },
    },
  })
  assert.equal(status, 201, text)
}

const whoami = (token: string): Promise<Answer> =>
  client.call({ method: 'POST', path: review, token, body: {} })

test('a token is valid from the creation of its Secret until the deletion of this Secret', async () => {
  assert.equal((await whoami(`aaaaaa.${secret}`)).status, 401)
  await write('aaaaaa', { 'auth-extra-groups': 'system:bootstrappers:workers' })
  const { status, text } = await whoami(`aaaaaa.${secret}`)
  assert.equal(status, 201)
  assert.deepEqual(JSON.parse(text).status.userInfo, {
    username: 'system:bootstrap:aaaaaa',
    groups: ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated'],
  })
  const path = `${secrets}/bootstrap-token-aaaaaa`
  assert.equal((await client.call({ method: 'DELETE', path, token: adminToken })).status, 200)
  await until(async () => (await whoami(`aaaaaa.${secret}`)).status === 401, 'the token is refused')
})

test('a bootstrap token does not allow reading nodes or secrets', async () => {
  await write('bbbbbb')
  const token = `bbbbbb.${secret}`
  assert.equal((await client.call({ path: '/api/v1/nodes', token })).status, 403)
  assert.equal((await client.call({ path: secrets, token })).status, 403)
})

test('attack: responses do not reveal which token ids exist', async () => {
  await write('cccccc')
  await write('dddddd', { expiration: '2020-01-01T00:00:00Z' })
  await write('eeeeee', { 'usage-bootstrap-authentication': 'false' })
  await write('ffffff', { 'auth-extra-groups': 'system:masters' }).catch(() => undefined)
  const wrong = 'fedcba9876543210'
  const answers = new Set<string>()
  for (const token of [
    `cccccc.${wrong}`,
    `cccccc.${secret}0`,
    `zzzzzz.${secret}`,
    `dddddd.${secret}`,
    `eeeeee.${secret}`,
    `ffffff.${secret}`,
    'no-token',
  ]) {
    const { status, text, headers } = await whoami(token)
    const { date: _date, 'audit-id': _id, ...others } = headers
    answers.add(JSON.stringify([status, text, others]))
  }
  assert.equal(answers.size, 1, [...answers].join('\n'))
  assert.match([...answers].join(''), /^\[401,/)
})
