import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { createAuthority } from './certificates.ts'
import { SigningAuthority } from './signing-authority.ts'
import { serverTrustAnchors } from './trust-anchors.ts'

const nowMs = Date.now()
const authority = createAuthority('ca', nowMs)

/** Returns a certificate for this key. */
function certificateOf(publicKey: KeyObject): Promise<string> {
  const names = { dns: [], emails: [], addresses: [], uris: [] }
  return new SigningAuthority(authority.certificatePem, authority.keyPem).issue(
    {
      commonName: 'x',
      organizations: [],
      subject: [{ id: '550403', text: 'x' }],
      names,
      publicKey,
    },
    { notBeforeMs: nowMs, notAfterMs: nowMs + 3_600_000, usageBits: 1, extendedUsages: [] },
  )
}

const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).publicKey

test('attack: a CA certificate is not used as a trust anchor if its key is on a curve that crashes Node', async () => {
  const known = [ec('secp224r1'), ec('P-256'), ec('P-384'), ec('P-521')]
  known.push(
    generateKeyPairSync('ed25519').publicKey,
    generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
  )
  for (const key of known) assert.equal(serverTrustAnchors(await certificateOf(key)).ca.length, 1)
  for (const key of [ec('brainpoolP256r1'), ec('brainpoolP512t1'), ec('secp256k1')]) {
    const { ca } = serverTrustAnchors((await certificateOf(key)) + authority.certificatePem)
    assert.deepEqual(ca, [authority.certificatePem])
  }
})
