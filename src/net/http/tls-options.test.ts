import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, createServer, type SecureVersion, type TLSSocket } from 'node:tls'
import { createAuthority, createSelfSigned } from '../../lib/x509/certificates.ts'
import { SigningAuthority } from '../../lib/x509/signing-authority.ts'
import { defaultLimits } from './limits.ts'
import { tlsOptions } from './tls-options.ts'

const nowMs = Date.now()
const authority = createAuthority('clients', nowMs)
const signer = new SigningAuthority(authority.certificatePem, authority.keyPem)
const choice = {
  ...createSelfSigned('server', ['127.0.0.1'], nowMs),
  clientCaPem: authority.certificatePem,
}

/** Whether the server gets the certificate of a client that has this key pair. */
async function isSeen(
  { publicKey, privateKey }: KeyPairKeyObjectResult,
  version: SecureVersion,
): Promise<boolean> {
  const names = { dns: [], emails: [], addresses: [], uris: [] }
  const cert = await signer.issue(
    {
      commonName: 'x',
      organizations: [],
      subject: [{ id: '550403', text: 'x' }],
      names,
      publicKey,
    },
    {
      notBeforeMs: nowMs - 60_000,
      notAfterMs: nowMs + 3_600_000,
      usageBits: 1,
      extendedUsages: [],
    },
  )
  const server = createServer(tlsOptions(choice, defaultLimits))
  const seen = new Promise<boolean>((resolve) => {
    server.on('secureConnection', (socket: TLSSocket) => {
      resolve(socket.getPeerX509Certificate() !== undefined)
      socket.on('error', () => undefined).end()
    })
    server.on('tlsClientError', () => resolve(false))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const { port } = address
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const versions = { minVersion: version, maxVersion: version }
  const client = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    cert,
    key,
    ...versions,
  })
  client.on('error', () => undefined).resume()
  try {
    return await seen
  } finally {
    client.destroy()
    server.close()
  }
}

const ec = (namedCurve: string): KeyPairKeyObjectResult => generateKeyPairSync('ec', { namedCurve })

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${version}: client keys are accepted only if Go supports their type and curve`, async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    for (const keys of [ec('P-256'), ec('P-384'), ec('P-521'), rsa, generateKeyPairSync('ed25519')])
      assert.ok(await isSeen(keys, version), keys.publicKey.asymmetricKeyType)
    for (const curve of ['brainpoolP256r1', 'brainpoolP384r1', 'secp256k1'])
      assert.ok(!(await isSeen(ec(curve), version)), curve)
  })
}

/**
 * Returns the cipher suite that is negotiated with a TLS 1.2 client that offers only `ciphers`.
 * Returns undefined if the handshake fails.
 */
async function agreedOn(ciphers: string): Promise<string | undefined> {
  const server = createServer(tlsOptions(choice, defaultLimits))
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const client = connect({
    port,
    host: '127.0.0.1',
    ciphers,
    maxVersion: 'TLSv1.2',
    rejectUnauthorized: false,
  })
  try {
    const agreed = new Promise<string>((resolve, reject) => {
      client.once('secureConnect', () => resolve(client.getCipher().name)).once('error', reject)
    })
    return await agreed.catch(() => undefined)
  } finally {
    client.destroy()
    server.close()
  }
}

test('by default, only cipher suites with forward secrecy and authenticated encryption are offered', async () => {
  assert.match((await agreedOn('DEFAULT')) ?? '', /^ECDHE-\w+-(AES\d+-GCM|CHACHA20)/)
  for (const weak of [
    'ECDHE-ECDSA-AES128-SHA',
    'ECDHE-RSA-AES256-SHA384',
    'AES128-GCM-SHA256',
    'AES256-SHA',
  ]) {
    assert.equal(await agreedOn(weak), undefined, weak)
  }
})
