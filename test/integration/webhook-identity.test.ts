/**
 * Tests the identity of webhooks. For each connection, the certificate is verified and the host
 * name is resolved once. No request may be sent to another server, even if DNS returns another
 * address later (CVE-2020-8562). A webhook without a valid certificate is treated as unreachable.
 */
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { text } from 'node:stream/consumers'
import { after, before, mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Authority, type IssuedCertificate } from '../support/harness/issued-certificate.ts'
import { type Client, clients, startTestServer } from './support.ts'

const NAME = 'hook.example.test'
/**
 * Addresses of the name of the webhook. The DNS of this test returns FIRST at first, and LATER
 * afterwards.
 */
const FIRST = '127.0.78.1'
const LATER = '127.0.78.2'

const policies = ['Fail', 'Ignore'] as const
const ours = new Authority('ours')
const theirs = new Authority('theirs')
const bundleOf = ({ certificatePem }: Authority): string =>
  Buffer.from(certificatePem).toString('base64')
const certified = (authority: Authority, ...hosts: string[]): IssuedCertificate =>
  authority.issue({ usage: ['server'], hosts })

const parts = new AsyncDisposableStack()
let client: Client
/** The addresses of the webhooks that were called. */
const asked: string[] = []

async function listen(
  { certificatePem: cert, keyPem: key }: IssuedCertificate,
  host: string,
  at = 0,
): Promise<Server> {
  const server = createServer({ cert, key }, (request, response) => {
    asked.push(host)
    void text(request).then((body) => {
      const {
        apiVersion,
        request: { uid },
      }: { apiVersion: string; request: { uid: string } } = JSON.parse(body)
      response.end(
        JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid, allowed: true } }),
      )
    })
  })
  server.listen(at, host)
  await once(server, 'listening')
  parts.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

before(async () => {
  const server = parts.use(await startTestServer())
  client = parts.use((clients['HTTP/2'] ?? assert.fail())(server.url))
})

after(() => parts.disposeAsync())

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const configMaps = '/api/v1/namespaces/default/configmaps'

/**
 * Registers webhooks with the URL, one for each failurePolicy. Each webhook matches objects with
 * its label.
 */
async function register(name: string, url: string, caBundle: string): Promise<void> {
  const webhooks = policies.map((failurePolicy) => ({
    name: `${failurePolicy.toLowerCase()}.example.com`,
    clientConfig: { url, caBundle },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { hook: `${name}-${failurePolicy}` } },
    rules: [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ],
    failurePolicy,
  }))
  const made = await client.call({
    method: 'POST',
    path: configurations,
    body: { metadata: { name }, webhooks },
  })
  assert.equal(made.status, 201, made.text)
}

const create = (
  name: string,
  policy: string,
): Promise<{ readonly status: number; readonly text: string }> =>
  client.call({
    method: 'POST',
    path: configMaps,
    body: { metadata: { generateName: `${name}-`, labels: { hook: `${name}-${policy}` } } },
  })

/**
 * Creates objects until the webhook is called, because a configuration might take effect a moment
 * later.
 */
async function inForce(name: string): Promise<void> {
  const { length } = asked
  while (asked.length === length) {
    assert.equal((await create(name, 'Fail')).status, 201)
    await sleep(20)
  }
}

async function refused(name: string, why: RegExp): Promise<void> {
  const { status, text: said } = await create(name, 'Fail')
  assert.equal(status, 500)
  assert.match(said, why)
  assert.equal((await create(name, 'Ignore')).status, 201)
}

test('a webhook that changes its certificate is only called if the new certificate is valid', {
  timeout: 120_000,
}, async () => {
  const host = '127.0.0.1'
  const hook = await listen(certified(ours, host), host)
  await register('changes', `https://${host}:${portOf(hook)}/`, bundleOf(ours))
  await inForce('changes')
  const change = ({ certificatePem: cert, keyPem: key }: IssuedCertificate): void => {
    hook.setSecureContext({ cert, key })
    hook.closeAllConnections()
  }
  change(certified(ours, host))
  assert.equal((await create('changes', 'Fail')).status, 201, 'the certificate is of the same CA')
  change(certified(theirs, host))
  const askedBefore = asked.length
  await refused('changes', /x509: certificate signed by unknown authority/)
  change(certified(ours, '127.0.0.2'))
  await refused('changes', /x509: certificate is valid for 127\.0\.0\.2, not 127\.0\.0\.1/)
  change(ours.issue({ usage: ['server'], hosts: [host], endsIn: -1 }))
  await refused('changes', /x509: certificate has expired or is not yet valid/)
  assert.equal(asked.length, askedBefore, 'the webhook was not called')
  change(certified(ours, host))
  assert.equal((await create('changes', 'Fail')).status, 201, 'the certificate is valid again')
})

test('if DNS later returns another address, the server at that address is not called', {
  timeout: 120_000,
}, async () => {
  const first = await listen(certified(ours, NAME), FIRST)
  const port = portOf(first)
  const later = await listen(certified(theirs, NAME), LATER, port)
  const addresses = [FIRST]
  const resolved: string[] = []
  const real = dns.lookup.bind(dns)
  const lookup = mock.method(
    dns,
    'lookup',
    (name: string, options: dns.LookupAllOptions, done: LookupDone) => {
      if (name !== NAME) {
        real(name, options, done)
        return
      }
      // Simulate DNS that first returns each of the given addresses once, and then always LATER.
      const address = addresses.shift() ?? LATER
      resolved.push(address)
      process.nextTick(done, null, options.all ? [{ address, family: 4 }] : address, 4)
    },
  )
  parts.defer(() => lookup.mock.restore())
  await register('moves', `https://${NAME}:${port}/`, bundleOf(ours))
  await inForce('moves')
  assert.deepEqual(resolved, [FIRST], 'the name is resolved once, and the connection is kept')
  first.closeAllConnections()
  asked.length = 0
  await refused('moves', /x509: certificate signed by unknown authority/)
  assert.deepEqual(asked, [], 'the other server was not called')
  assert.ok(resolved.slice(1).every((one) => one === LATER))
  assert.ok(later.listening)
})

type LookupDone = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void

test('a call to a webhook whose host name cannot be resolved fails', {
  timeout: 120_000,
}, async () => {
  await register('nowhere', 'https://nowhere.invalid/', bundleOf(ours))
  while ((await create('nowhere', 'Fail')).status === 201) await sleep(20)
  await refused('nowhere', /dial tcp: lookup nowhere\.invalid/)
})
