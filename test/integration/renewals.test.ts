/**
 * Tests the steps of docs/operate.md that replace a serving certificate, a client CA and the key of
 * service account tokens: no client is rejected in between.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { type Certificate, createAuthority, issue } from '../../src/lib/x509/certificates.ts'
import { type EtcdProcess, startEtcd } from '../support/harness/etcd.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'
import { clients, startOn, type TestServer } from './support.ts'

const nowMs = Date.now()
const dir = mkdtempSync(join(tmpdir(), 'keelson-renewals-'))
const authority = createAuthority('old-ca', nowMs)
const serving = (commonName: string): Certificate =>
  issue(authority, { commonName, usage: 'server', hosts: ['127.0.0.1'], nowMs })
const configMaps = '/api/v1/namespaces/default/configmaps'

let etcd: EtcdProcess
before(async () => {
  etcd = await startEtcd()
})
after(async () => {
  await etcd[Symbol.asyncDispose]()
  rmSync(dir, { recursive: true, force: true })
})

/**
 * Replaces a file as described in docs/operate.md: writes a new file and renames it. Returns the
 * path.
 */
function replaceFile(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
  return path
}

type Identity = { readonly cert?: string; readonly key?: string }

/**
 * Lists namespaces on a new connection. The client trusts only the CA. Returns the status of the
 * response.
 */
const list = (url: string, { cert, key }: Identity): Promise<number> =>
  new Promise((resolve, reject) => {
    const identity = cert === undefined || key === undefined ? {} : { cert, key }
    const target = `${url}/api/v1/namespaces`
    request(target, { ca: authority.certificatePem, agent: false, ...identity }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })

/** Returns the name in the certificate that new connections get. */
function shownName(url: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const target = { host: hostname, port: Number(port), ca: authority.certificatePem }
    const socket = connect(target, () => {
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      resolve(String(subject.CN))
    }).on('error', reject)
  })
}

const serverFlags = (): string[] => [
  `--tls-cert-file=${join(dir, 'server.crt')}`,
  `--tls-private-key-file=${join(dir, 'server.key')}`,
]

function replaceServing({ certificatePem, keyPem }: Certificate): void {
  replaceFile('server.crt', certificatePem)
  replaceFile('server.key', keyPem)
}

test('while a serving certificate and its key are replaced, requests succeed and watches stay open', async () => {
  replaceServing(serving('old'))
  await using server = await startOn(etcd, serverFlags())
  await using client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  const watch = client.lines({ path: `${configMaps}?watch=true` })
  const seen = (async () => {
    for await (const line of watch) if (line.includes('"after-renewal"')) return true
    return false
  })()
  let isDone = false
  const statuses = new Map<number, number>()
  const requests = (async () => {
    while (!isDone) {
      const status = await list(server.url, {})
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })()
  await until(() => (statuses.get(403) ?? 0) > 2, 'requests are sent')
  replaceServing(serving('new'))
  const isUsed = async (): Promise<boolean> => (await shownName(server.url)) === 'new'
  await until(isUsed, 'the new certificate is used', WATCHED_MS)
  isDone = true
  await requests
  const body = { metadata: { name: 'after-renewal' } }
  assert.equal((await client.call({ method: 'POST', path: configMaps, body })).status, 201)
  assert.ok(await seen, 'the watch was opened before the renewal')
  assert.deepEqual([...statuses.keys()], [403], 'the user of these requests is anonymous')
})

test('while a client CA is replaced, the certificates of both CAs are accepted', async () => {
  const next = createAuthority('new-ca', nowMs)
  const [jane, joe] = [authority, next].map((by) => {
    const spec = { usage: 'client', hosts: [], nowMs } as const
    const made = issue(by, { ...spec, commonName: 'admin', organizations: ['system:masters'] })
    return { cert: made.certificatePem, key: made.keyPem }
  })
  assert.ok(jane !== undefined && joe !== undefined)
  replaceServing(serving('server'))
  const file = replaceFile('ca.crt', authority.certificatePem)
  await using server = await startOn(etcd, [...serverFlags(), `--client-ca-file=${file}`])
  const statusOf = (who: Identity): Promise<number> => list(server.url, who).catch(() => 0)
  const isOk = (who: Identity, status: number, what: string): Promise<void> =>
    until(async () => (await statusOf(who)) === status, what, WATCHED_MS)
  assert.deepEqual([await statusOf(jane), await statusOf(joe)], [200, 401])
  replaceFile('ca.crt', authority.certificatePem + next.certificatePem)
  await isOk(joe, 200, 'the second CA is accepted')
  assert.equal(await statusOf(jane), 200)
  replaceFile('ca.crt', next.certificatePem)
  await isOk(jane, 401, 'the first CA is no longer accepted')
  assert.equal(await statusOf(joe), 200)
})

const startWithKeys = (signing: string, verifying: readonly string[]): Promise<TestServer> =>
  startOn(etcd, [
    '--service-account-issuer=https://issuer.example.com',
    `--service-account-signing-key-file=${signing}`,
    ...verifying.map((key) => `--service-account-key-file=${key}`),
  ])

test('while the key of service account tokens is replaced, old and new replicas accept all tokens', async () => {
  const keys = ['old.key', 'new.key'].map((name) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return replaceFile(name, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  })
  const [old = '', next = ''] = keys
  await using first = await startWithKeys(old, [old])
  await using both = await startWithKeys(old, [old, next])
  await using signing = await startWithKeys(next, [old, next])
  await using last = await startWithKeys(next, [next])
  const [oldToken, newToken] = [await issueToken(both.url), await issueToken(signing.url)]
  // During the procedure, replicas of two consecutive steps run at the same time. Each replica must
  // therefore accept the tokens of the previous and of the next step.
  for (const { url } of [first, both, signing]) assert.equal(await askWith(url, oldToken), 403)
  for (const { url } of [both, signing, last]) assert.equal(await askWith(url, newToken), 403)
  assert.equal(await askWith(last.url, oldToken), 401, 'the old key is removed in the last step')
})

const accounts = '/api/v1/namespaces/default/serviceaccounts'

async function issueToken(url: string): Promise<string> {
  await using client = clients['HTTP/2']?.(url)
  assert.ok(client)
  await client.call({ method: 'POST', path: accounts, body: { metadata: { name: 'robot' } } })
  const call = { method: 'POST', path: `${accounts}/robot/token`, body: { spec: {} } }
  const { status, text } = await client.call(call)
  assert.equal(status, 201, text)
  return JSON.parse(text).status.token
}

/**
 * Sends a request with a token without permissions. Returns 403 if the server accepts the token,
 * and otherwise 401.
 */
async function askWith(url: string, token: string): Promise<number> {
  await using client = clients['HTTP/2']?.(url)
  assert.ok(client)
  return (await client.call({ path: '/api/v1/namespaces', token })).status
}
