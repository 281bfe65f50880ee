/**
 * Tests the certificates that the server's own controllers sign, their use, and the signatures of
 * cluster-info.
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { text as textOf } from 'node:stream/consumers'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAuthority } from '../../src/lib/x509/certificates.ts'
import {
  bits,
  context,
  integer,
  objectId,
  pem,
  sequence,
  set,
  text as derText,
} from '../../src/lib/x509/der.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let dir: string
let server: TestServer
let client: Client
const authority = createAuthority('signer', Date.now())

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-signing-'))
  const [certificate, key] = [join(dir, 'ca.crt'), join(dir, 'ca.key')]
  await writeFile(certificate, authority.certificatePem)
  await writeFile(key, authority.keyPem)
  server = await startTestServer([
    '--controllers=*,bootstrap-signer-controller',
    '--authorization-mode=RBAC',
    `--client-ca-file=${certificate}`,
    `--cluster-signing-cert-file=${certificate}`,
    `--cluster-signing-key-file=${key}`,
    '--cluster-signing-duration=2h',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function read(path: string) {
  const { status, text } = await client.call({ path })
  return status === 200 ? JSON.parse(text) : undefined
}

async function send(method: string, path: string, body: object, type = 'application/json') {
  const { status, text } = await client.call({
    method,
    path,
    body,
    headers: { 'content-type': type },
  })
  assert.ok(status < 300, text)
  return JSON.parse(text)
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + 30_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    assert.ok(performance.now() < endMs, `not within half a minute: ${what}`)
    await sleep(50)
  }
}

const part = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), derText(value)))

function requestOf(publicKey: KeyObject, privateKey: KeyObject): string {
  const subject = sequence(part([2, 5, 4, 10], 'dev'), part([2, 5, 4, 3], 'jane'))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = sequence(integer(Buffer.from([0])), subject, key, context(0, Buffer.alloc(0)))
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
  const whole = sequence(info, algorithm, bits(sign('sha256', info, privateKey)))
  return Buffer.from(pem('CERTIFICATE REQUEST', whole)).toString('base64')
}

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

async function approve(
  name: string,
  usages: readonly string[],
  keys = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  more: object = {},
) {
  const spec = {
    ...more,
    request: requestOf(keys.publicKey, keys.privateKey),
    usages,
    signerName: 'kubernetes.io/kube-apiserver-client',
  }
  const made = await send('POST', csrs, { metadata: { name }, spec })
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test' }]
  await send('PUT', `${csrs}/${name}/approval`, { ...made, status: { conditions } })
}

/** Returns the user as which the server authenticates a client with this certificate. */
function whoIs(cert: string, key: string): Promise<{ username: string; groups: string[] }> {
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  return new Promise((resolve, reject) => {
    const asked = request({
      hostname,
      port,
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { 'content-type': 'application/json' },
      cert,
      key,
      rejectUnauthorized: false,
    })
    asked.on('error', reject)
    asked.on('response', (response) => {
      textOf(response).then((answer) => resolve(JSON.parse(answer).status.userInfo), reject)
    })
    asked.end(body)
  })
}

test('an approved request is signed, and its user can authenticate with the certificate', async () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await approve('good', ['client auth', 'digital signature'], keys)
  const base64 = await until(
    'the certificate is issued',
    async () => (await read(`${csrs}/good`)).status.certificate,
  )
  const certificatePem = Buffer.from(base64, 'base64').toString()
  const certificate = new X509Certificate(certificatePem)
  assert.ok(certificate.verify(new X509Certificate(authority.certificatePem).publicKey))
  assert.equal(
    certificate.validToDate.getTime() - certificate.validFromDate.getTime(),
    125 * 60_000,
  )
  const who = await whoIs(
    certificatePem,
    keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  )
  assert.deepEqual([who.username, who.groups], ['jane', ['dev', 'system:authenticated']])
})

test('metrics count issued certificates, and those that have the requested duration', async () => {
  // Certificates are valid for at most two hours, so the second certificate expires earlier than
  // requested.
  for (const [name, expirationSeconds] of [
    ['hour', 3600],
    ['day', 86_400],
  ] as const) {
    await approve(name, ['client auth'], undefined, { expirationSeconds })
    await until(
      'the certificate is issued',
      async () => (await read(`${csrs}/${name}`)).status.certificate,
    )
  }
  const { text } = await client.call({ path: '/metrics' })
  assert.deepEqual(text.match(/^apiserver_certificates_registry_.*$/gm), [
    'apiserver_certificates_registry_csr_honored_duration_total{signerName="kubernetes.io/kube-apiserver-client"} 1',
    'apiserver_certificates_registry_csr_requested_duration_total{signerName="kubernetes.io/kube-apiserver-client"} 2',
  ])
})

test('an approved CSR that its signer rejects gets the Failed condition', async () => {
  await approve('bad', ['server auth'])
  const failed = await until('the request fails', async () =>
    (await read(`${csrs}/bad`)).status.conditions.find(
      ({ type }: { type: string }) => type === 'Failed',
    ),
  )
  assert.equal(failed.message, 'invalid usage for client certificate: server auth')
})

test('cluster-info is signed with each token that permits signing, until the token is deleted', async () => {
  const configMaps = '/api/v1/namespaces/kube-public/configmaps'
  const secrets = '/api/v1/namespaces/kube-system/secrets'
  const kubeconfig = 'apiVersion: v1\nkind: Config\n'
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
  }
  await send('POST', configMaps, { metadata: { name: 'cluster-info' }, data: { kubeconfig } })
  const metadata = { name: 'bootstrap-token-abcdef' }
  await send('POST', secrets, { metadata, type: 'bootstrap.kubernetes.io/token', stringData })
  const signature = () =>
    read(`${configMaps}/cluster-info`).then(({ data }) => data['jws-kubeconfig-abcdef'])
  const [header = '', none, mac] = (await until('cluster-info is signed', signature)).split('.')
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    alg: 'HS256',
    kid: 'abcdef',
  })
  assert.equal(none, '')
  const signed = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`
  assert.equal(mac, createHmac('sha256', '0123456789abcdef').update(signed).digest('base64url'))
  await client.call({ method: 'DELETE', path: `${secrets}/bootstrap-token-abcdef` })
  await until('the signature is gone', async () =>
    (await signature()) === undefined ? true : undefined,
  )
})

test('the server logs no warnings or errors while the tests of this file run', () =>
  assert.deepEqual(server.complaints, []))
