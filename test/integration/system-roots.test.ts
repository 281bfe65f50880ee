/**
 * Tests that clients without a configured CA trust the roots of the system, as Go programs do:
 * webhooks, calls with a kubeconfig, proxies, OpenID issuers, aggregated servers and etcd. OpenSSL
 * reads SSL_CERT_FILE on first use, so this process can choose the roots.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect } from 'node:tls'
import { RemoteConnections } from '../../src/request/aggregation/connections.ts'
import { IssuerClient } from '../../src/access/authentication/oidc/issuer-client.ts'
import { loadTls } from '../../src/net/grpc/tls.ts'
import { dialDirect } from '../../src/lib/net/dial.ts'
import { systemTimers } from '../../src/lib/time/timers.ts'
import { systemContext } from '../../src/lib/x509/system-roots.ts'
import { Webhook } from '../../src/net/outbound/call.ts'
import { KubeconfigClient } from '../../src/net/outbound/kubeconfig-client.ts'
import { ReceivedAnswers } from '../../src/net/outbound/received.ts'
import { reasonOf } from '../../src/net/outbound/send.ts'
import {
  authorityExtensions,
  CertificateTree,
  type TreeCertificate,
} from '../support/harness/certificate-tree.ts'

const tree = new CertificateTree()
const dir = mkdtempSync(join(tmpdir(), 'keelson-roots-'))
after(() => {
  tree[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

const here = ['subjectAltName=IP:127.0.0.1,DNS:remote.test', 'extendedKeyUsage=serverAuth']
const inFile = tree.make('in-file', { extensions: authorityExtensions })
const inFolder = tree.make('in-folder', { extensions: authorityExtensions })
const unknown = tree.make('unknown', { extensions: authorityExtensions })

// Write the files with the root certificates first. Clients read them only once.
mkdirSync(join(dir, 'certs'))
writeFileSync(join(dir, 'file.pem'), inFile.certificatePem)
writeFileSync(join(dir, 'certs', 'any-name.pem'), inFolder.certificatePem)
process.env['SSL_CERT_FILE'] = join(dir, 'file.pem')
process.env['SSL_CERT_DIR'] = join(dir, 'certs')

const MS_MAX = 30_000

async function listen(
  signer: TreeCertificate,
  name: string,
): Promise<{ server: Server; port: number }> {
  const leaf = tree.make(name, { by: signer, extensions: here })
  const server = createServer({ cert: leaf.certificatePem, key: leaf.keyPem }, (_, response) =>
    response.end('{}'),
  )
  // Also act as a proxy, so that clients can be tested behind a proxy that they must trust.
  server.on('connect', (request, socket) => {
    const target = connectPlain(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    for (const end of [socket, target]) end.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { server, port: address.port }
}

const kubeconfigOf = (server: string, proxyUrl: string) =>
  ({
    server,
    tlsServerName: '',
    isInsecure: false,
    certificateAuthority: '',
    proxyUrl,
    credentials: { kind: 'none' },
    clientCertificate: null,
    impersonate: null,
  }) as const

/**
 * Starts a server whose certificate is signed by this CA. Returns the error of each client that
 * connects to it, by the name of the client. The error is empty if the client trusts the server.
 */
async function judge(signer: TreeCertificate): Promise<Record<string, string>> {
  const { server, port } = await listen(signer, `leaf-of-${signer.name}`)
  const url = `https://127.0.0.1:${port}/`
  const signal = AbortSignal.timeout(MS_MAX)
  const webhook = new Webhook({ url, caBundle: '' }, MS_MAX, {
    getService: () => undefined,
    received: new ReceivedAnswers(),
  })
  using issuer = new IssuerClient('', systemTimers)
  using kubeconfig = new KubeconfigClient(kubeconfigOf(url, ''), { timeoutMs: MS_MAX })
  using proxied = new KubeconfigClient(kubeconfigOf(url, url), { timeoutMs: MS_MAX })
  const remote = new RemoteConnections(
    { servername: 'remote.test', caPem: '', isInsecure: false, client: undefined },
    dialDirect,
  )
  const toEtcd = connect({ ...(await loadTls({})), host: '127.0.0.1', port })
  const calls = {
    etcd: once(toEtcd, 'secureConnect'),
    webhook: webhook.post('{}', signal),
    kubeconfig: kubeconfig.post('{}'),
    proxy: proxied.post('{}'),
    issuer: issuer.get(url),
    remote: remote.send(
      { host: '127.0.0.1', port },
      { method: 'GET', path: '/', headers: {}, pipeBody: undefined, signal },
    ),
  }
  const said = await Promise.allSettled(Object.values(calls))
  toEtcd.destroy()
  remote.close()
  server.closeAllConnections()
  server.close()
  const whys = said.map((one) => (one.status === 'fulfilled' ? '' : whyOf(one.reason)))
  return Object.fromEntries(Object.keys(calls).map((name, at) => [name, whys[at] ?? '']))
}

const whyOf = (error: unknown): string => (error instanceof Error ? reasonOf(error) : String(error))

test("servers with certificates of a system root CA are trusted, whether the CA is in the system's file or folder", async () => {
  for (const signer of [inFile, inFolder]) {
    for (const [client, said] of Object.entries(await judge(signer)))
      assert.equal(said, '', `${client}, ${signer.name}`)
  }
})

test('servers of other CAs are not trusted', async () => {
  for (const [client, said] of Object.entries(await judge(unknown))) {
    assert.match(said, /signed by unknown authority/, client)
  }
})

test('clients with the same certificate share a TLS context, because building a context takes long', () => {
  const own = tree.make('own', { by: inFile, extensions: [] })
  const pair = { cert: own.certificatePem, key: own.keyPem }
  assert.equal(systemContext(), systemContext())
  assert.equal(systemContext(pair), systemContext({ ...pair }))
  assert.notEqual(systemContext(pair), systemContext())
})
