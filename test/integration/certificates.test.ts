/**
 * Tests the certificates of both sides: clients that authenticate with certificates, and a server
 * whose certificate is renewed while it runs.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type ConnectionOptions, createServer as createTlsServer } from 'node:tls'
import { checkArgs } from '../../src/config/config.ts'
import { defaultLimits } from '../../src/net/http/limits.ts'
import { tlsOptions } from '../../src/net/http/tls-options.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { type Certificate, createAuthority, issue } from '../../src/lib/x509/certificates.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { type Server, startServer } from '../../src/server/server.ts'
import { type EtcdProcess, startEtcd } from '../support/harness/etcd.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'

const nowMs = Date.now()
const authority = createAuthority('test-ca', nowMs)
const serving = (commonName: string): Certificate =>
  issue(authority, { commonName, usage: 'server', hosts: ['127.0.0.1'], nowMs })
const client = (
  commonName: string,
  organizations: readonly string[],
  by = authority,
): Certificate => issue(by, { commonName, organizations, usage: 'client', hosts: [], nowMs })

let dir: string
let etcd: EtcdProcess
let server: Server

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-certificates-'))
  etcd = await startEtcd()
  await writeFile(join(dir, 'ca.crt'), authority.certificatePem)
  await writeServing(serving('first'))
  const checked = checkArgs([
    `--etcd-servers=${etcd.clientUrl}`,
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${join(dir, 'server.crt')}`,
    `--tls-private-key-file=${join(dir, 'server.key')}`,
    `--client-ca-file=${join(dir, 'ca.crt')}`,
    '--tls-min-version=VersionTLS13',
  ])
  assert.ok(checked.kind === 'config')
  server = await startServer(
    { ...checked.config, network: { ...checked.config.network, port: 0 } },
    realEnvironment(silent),
  )
})
after(async () => {
  await server.stop()
  await etcd[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function writeServing({ certificatePem, keyPem }: Certificate): Promise<void> {
  await writeFile(join(dir, 'server.crt'), certificatePem)
  await writeFile(join(dir, 'server.key'), keyPem)
}

type Answer = { readonly status: number; readonly body: { readonly [field: string]: unknown } }

/**
 * Sends a request. The client trusts only this authority, so a server certificate of any other
 * authority makes the request fail.
 */
async function call(
  path: string,
  certificate: Certificate | undefined,
  body?: unknown,
): Promise<Answer> {
  const { status, text } = await callText(path, certificate, body)
  return { status, body: JSON.parse(text) }
}

function callText(
  path: string,
  certificate: Certificate | undefined,
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const shown =
    certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }
  const { hostname, port } = new URL(server.url)
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      path,
      method,
      ca: authority.certificatePem,
      agent: false,
      ...shown,
    }
    const request = httpsRequest(
      { ...options, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const whoami = (certificate: Certificate): Promise<Answer> =>
  call('/apis/authentication.k8s.io/v1/selfsubjectreviews', certificate, {})

test('a client certificate contains the user and its groups', async () => {
  const { status, body } = await whoami(client('jane', ['system:masters', 'dev']))
  assert.equal(status, 201)
  assert.match(
    JSON.stringify(body['status']),
    /"username":"jane","groups":\["system:masters","dev","system:authenticated"\]/,
  )
  assert.equal((await call('/api/v1/namespaces', client('jane', ['system:masters']))).status, 200)
})

test('the user of a client certificate needs permissions like any other user', async () => {
  const { status, body } = await call('/api/v1/namespaces', client('joe', ['dev']))
  assert.equal(status, 403)
  assert.match(String(body['message']), /User "joe" cannot list resource "namespaces"/)
})

test('a certificate of another authority is rejected, and a client without a certificate is anonymous', async () => {
  const foreign = client('jane', ['system:masters'], createAuthority('test-ca', nowMs))
  assert.equal((await whoami(foreign)).status, 401)
  const { status, body } = await call('/api/v1/namespaces', undefined)
  assert.equal(status, 403)
  assert.match(String(body['message']), /User "system:anonymous" cannot list/)
})

test('old versions of TLS are rejected', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: authority.certificatePem,
    maxVersion: 'TLSv1.2',
  })
  await assert.rejects(once(socket, 'secureConnect'), /alert protocol version/)
})

async function shownName(): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port), ca: authority.certificatePem })
  await once(socket, 'secureConnect')
  const { subject } = new X509Certificate(socket.getPeerX509Certificate()?.raw ?? '')
  socket.destroy()
  return subject
}

test('a renewed certificate is used for new connections, but an incomplete one is not', async () => {
  assert.equal(await shownName(), 'CN=first')
  const second = serving('second')
  // Simulate another process that is still writing the files. First the certificate is empty. Then
  // it is complete, but the key is still the previous one.
  for (const half of ['', second.certificatePem]) {
    await writeFile(join(dir, 'server.crt'), half)
    await server.reloadCertificate()
    assert.equal(await shownName(), 'CN=first')
  }
  await writeServing({ certificatePem: '', keyPem: '' })
  await server.reloadCertificate()
  assert.equal(await shownName(), 'CN=first')
  await writeServing(second)
  await server.reloadCertificate()
  assert.equal(await shownName(), 'CN=second')
  assert.equal((await whoami(client('jane', []))).status, 201)
})

test('a serving certificate that is written to the files is used without an explicit reload', async () => {
  await writeServing(serving('third'))
  await until(
    async () => (await shownName()) === 'CN=third',
    'the new certificate is used',
    WATCHED_MS,
  )
})

const metrics = async (): Promise<string> =>
  (await callText('/metrics', client('jane', ['system:masters']))).text

const expiration = (file: string, seconds: number): string =>
  `keelson_certificate_expiration_timestamp_seconds{path="${join(dir, file)}"} ${seconds}\n`

test('a metric shows when the first certificate in each certificate file expires', async () => {
  const caSeconds = new X509Certificate(authority.certificatePem).validToDate.getTime() / 1000
  assert.ok((await metrics()).includes(expiration('ca.crt', caSeconds)))
  const toMs = Math.floor(nowMs / 1000) * 1000 + 3 * 86_400_000
  const short = issue(authority, {
    commonName: 'short',
    usage: 'server',
    hosts: ['127.0.0.1'],
    fromMs: nowMs,
    toMs,
  })
  await writeServing({
    ...short,
    certificatePem: `${short.certificatePem}${authority.certificatePem}`,
  })
  await server.reloadCertificate()
  assert.ok((await metrics()).includes(expiration('server.crt', toMs / 1000)))
})

test('the CA for client certificates is reloaded, and clients with certificates of the previous CA must reconnect', async () => {
  const next = createAuthority('next-ca', nowMs)
  const [jane, joe] = [client('jane', ['system:masters']), client('joe', ['system:masters'], next)]
  assert.equal((await whoami(joe)).status, 401)
  const session = connectHttp2(server.url, {
    ca: authority.certificatePem,
    cert: jane.certificatePem,
    key: jane.keyPem,
  })
  const watching = session.request({ ':path': '/api/v1/namespaces?watch=true&timeoutSeconds=2' })
  await once(watching, 'response')
  const leaving = once(session, 'goaway')
  const watched = once(watching.resume(), 'end')
  await writeFile(join(dir, 'ca.crt'), next.certificatePem)
  // Ignore errors. While the server reloads the authority, it closes connections, which may include
  // that of joe.
  const isKnown = async (): Promise<boolean> =>
    (await whoami(joe).catch(() => undefined))?.status === 201
  await until(isKnown, 'the new authority is used', WATCHED_MS)
  await leaving
  assert.equal((await whoami(jane)).status, 401)
  await watched
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  await until(async () => {
    const reported = JSON.stringify((await call(path, joe)).body)
    return [authority, next].every(({ certificatePem }) =>
      reported.includes(certificatePem.split('\n')[3] ?? 'none'),
    )
  }, 'both authorities are published')
  await writeFile(join(dir, 'ca.crt'), 'nonsense')
  await server.reloadCertificate()
  assert.equal((await whoami(joe)).status, 201, 'an unusable file is not used')
})

test('clients can only use the cipher suites of --tls-cipher-suites', async () => {
  const checked = checkArgs([
    `--etcd-servers=${etcd.clientUrl}`,
    '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  ])
  assert.ok(checked.kind === 'config')
  const tlsCiphers = checked.config.tls.ciphers ?? undefined
  const listening = createTlsServer(
    tlsOptions({ ...serving('suites'), tlsCiphers }, defaultLimits),
  ).listen(0)
  await once(listening, 'listening')
  const address = listening.address()
  assert.ok(typeof address === 'object' && address !== null)
  const shake = async (options: ConnectionOptions): Promise<string> => {
    const socket = connect({
      host: '127.0.0.1',
      port: address.port,
      ca: authority.certificatePem,
      ...options,
    })
    try {
      await once(socket, 'secureConnect')
      return `${socket.getProtocol()} ${socket.getCipher().name}`
    } finally {
      socket.destroy()
    }
  }
  try {
    assert.match(await shake({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-(ECDSA|RSA)-AES128-SHA$/)
    assert.match(await shake({}), /^TLSv1\.3 /)
    const other = 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384'
    await assert.rejects(
      shake({ maxVersion: 'TLSv1.2', ciphers: other }),
      /alert handshake failure/,
    )
  } finally {
    listening.close()
  }
})
