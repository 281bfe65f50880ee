/**
 * Tests which servers our clients trust (webhooks, calls with a kubeconfig, OpenID issuers,
 * kubelets, etcd), with real chains over real sockets. As in Go, any certificate of a bundle is a
 * trust anchor. The server's own certificate must still meet all requirements.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { after, test } from 'node:test'
import { connect } from 'node:tls'
import { IssuerClient } from '../../src/access/authentication/oidc/issuer-client.ts'
import { systemTimers } from '../../src/lib/time/timers.ts'
import { loadTls } from '../../src/net/grpc/tls.ts'
import { open } from '../../src/request/verbs/subresources/forward.ts'
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
after(() => tree[Symbol.dispose]())

const here = ['subjectAltName=IP:127.0.0.1', 'extendedKeyUsage=serverAuth']
const root = tree.make('root', { extensions: authorityExtensions })
const middle = tree.make('middle', { by: root, extensions: authorityExtensions })
const other = tree.make('other', { extensions: authorityExtensions })
const good = tree.make('good', { by: middle, extensions: here })
const elsewhere = tree.make('elsewhere', {
  by: middle,
  extensions: ['subjectAltName=IP:192.0.2.1', here[1] ?? ''],
})
const over = tree.make('over', { by: middle, extensions: here, endsInMs: -1_000 })
const client = tree.make('client', {
  by: middle,
  extensions: [here[0] ?? '', 'extendedKeyUsage=clientAuth'],
})
const broken = '-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n'

const pemOf = (...certificates: readonly TreeCertificate[]): string =>
  certificates.map(({ certificatePem }) => certificatePem).join('')

/**
 * Returns the error of each client when it connects to a server with this certificate chain. The
 * error is empty if the client trusts the server.
 */
async function judge(
  chain: readonly TreeCertificate[],
  bundle: string,
): Promise<readonly string[]> {
  const server = createServer({ cert: pemOf(...chain), key: chain[0]?.keyPem }, (_, response) =>
    response.end('{}'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const url = `https://127.0.0.1:${address.port}/`
  const caBundle = Buffer.from(bundle).toString('base64')
  const parts = { getService: () => undefined, received: new ReceivedAnswers() }
  const webhook = new Webhook({ url, caBundle }, 10_000, parts)
  using issuer = new IssuerClient(bundle, systemTimers)
  using kubeconfig = new KubeconfigClient(
    {
      server: url,
      tlsServerName: '',
      isInsecure: false,
      certificateAuthority: bundle,
      proxyUrl: '',
      credentials: { kind: 'none' },
      clientCertificate: null,
      impersonate: null,
    },
    { timeoutMs: 10_000 },
  )
  const kubelet = { addressTypes: [], caPem: bundle, client: null, port: 10_250 }
  const signal = AbortSignal.timeout(10_000)
  const toKubelet = open({ url: new URL(url), method: 'GET', headers: {}, signal, kubelet })
  const toEtcd = connect({
    ...(await loadTls({ ca: Buffer.from(bundle) })),
    host: '127.0.0.1',
    port: address.port,
  })
  toKubelet.end()
  const said = await Promise.allSettled([
    once(toKubelet, 'response'),
    once(toEtcd, 'secureConnect'),
    webhook.post('{}', signal),
    kubeconfig.post('{}'),
    issuer.get(url),
  ])
  toEtcd.destroy()
  toKubelet.destroy()
  server.closeAllConnections()
  server.close()
  return said.map((one) => (one.status === 'fulfilled' ? '' : whyOf(one.reason)))
}

const whyOf = (error: unknown): string => (error instanceof Error ? reasonOf(error) : String(error))

const trusted = ['', '', '', '', '']

test("a bundle of trusted certificates can contain a root, an intermediate or the server's own certificate", async () => {
  assert.deepEqual(await judge([good, middle], pemOf(root)), trusted, 'root')
  assert.deepEqual(await judge([good], pemOf(middle)), trusted, 'intermediate')
  assert.deepEqual(await judge([good], pemOf(good)), trusted, 'its own certificate')
  assert.deepEqual(await judge([good], pemOf(other, good)), trusted, 'one of several')
})

test('an unparsable block in a bundle does not hide the certificates that follow this block', async () => {
  assert.deepEqual(await judge([good], `${broken}${pemOf(middle)}`), trusted)
})

test('a server certificate is not trusted if no certificate in the bundle issued it', async () => {
  for (const [bundle, chain] of [
    [pemOf(other), [good, middle]],
    [pemOf(root), [good]],
    [broken, [good, middle]],
  ] as const) {
    for (const said of await judge(chain, bundle)) assert.match(said, /signed by unknown authority/)
  }
})

test('even a certificate in the bundle is accepted only for the right host, before it expires, and for server authentication', async () => {
  for (const [leaf, why] of [
    [elsewhere, /127\.0\.0\.1/],
    [over, /expired/],
    [client, /purpose|suitable/],
  ] as const) {
    for (const bundle of [pemOf(leaf), pemOf(middle), pemOf(leaf, middle, root)]) {
      for (const said of await judge([leaf, middle], bundle)) assert.match(said, why, leaf.name)
    }
  }
})
