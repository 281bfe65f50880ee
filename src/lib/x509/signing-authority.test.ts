import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createAuthority } from './certificates.ts'
import { bits, context, der, integer, objectId, octets, pem, sequence, set, text } from './der.ts'
import { readPemRequest, RequestError } from './request.ts'
import { SigningAuthority } from './signing-authority.ts'

const nowMs = Date.parse('2026-03-04T05:06:07Z')
const digitalSignature = 1
const keyEncipherment = 4
const clientAuth = [1, 3, 6, 1, 5, 5, 7, 3, 2]
const issue = {
  notBeforeMs: nowMs - 300_000,
  notAfterMs: nowMs + 3_600_000,
  usageBits: digitalSignature | keyEncipherment,
  extendedUsages: [clientAuth],
}

type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

/** Returns a request in base64, with these subject attributes and alternative names. */
function requestOf(
  { publicKey, privateKey }: Keys,
  parts: readonly Buffer[],
  names: readonly Buffer[] = [],
): string {
  const extension = sequence(objectId([2, 5, 29, 17]), octets(sequence(...names)))
  const attribute = sequence(objectId([1, 2, 840, 113549, 1, 9, 14]), set(sequence(extension)))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const attributes = context(0, names.length === 0 ? Buffer.alloc(0) : attribute)
  const info = sequence(integer(Buffer.from([0])), sequence(...parts), key, attributes)
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
  return Buffer.from(
    pem('CERTIFICATE REQUEST', sequence(info, algorithm, bits(sign('sha256', info, privateKey)))),
  ).toString('base64')
}

const part = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), text(value)))
const commonName = (value: string): Buffer => part([2, 5, 4, 3], value)
const organization = (value: string): Buffer => part([2, 5, 4, 10], value)

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const authorityPems = createAuthority('ca', nowMs)
const authority = new SigningAuthority(authorityPems.certificatePem, authorityPems.keyPem)

test('a signed certificate has the subject, key and names of the request, and is trusted through the CA', async () => {
  const names = [
    der(0x82, Buffer.from('a.example')),
    der(0x87, Buffer.from([10, 0, 0, 1])),
    der(0x88, Buffer.from([42])),
  ]
  const asked = requestOf(
    keys,
    [commonName('jane'), organization('dev'), organization('äö')],
    names,
  )
  const issued = new X509Certificate(await authority.issue(readPemRequest(asked), issue))
  const ca = new X509Certificate(authorityPems.certificatePem)
  assert.ok(issued.checkIssued(ca) && issued.verify(ca.publicKey) && !issued.ca)
  // All organizations of a subject are in one RDN (relative distinguished name).
  assert.equal(issued.subject, 'O=dev + O=äö\nCN=jane')
  assert.equal(issued.subjectAltName, 'DNS:a.example, IP Address:10.0.0.1')
  assert.ok(issued.publicKey.equals(keys.publicKey))
  assert.deepEqual(
    [issued.validFromDate.getTime(), issued.validToDate.getTime()],
    [issue.notBeforeMs, issue.notAfterMs],
  )
  assert.deepEqual(issued.keyUsage, [clientAuth.join('.')])
})

test('a CA can sign with keys of all types that Go supports', async () => {
  const asked = readPemRequest(requestOf(keys, [commonName('jane')]))
  const made = [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    generateKeyPairSync('ed25519'),
  ]
  for (const { publicKey, privateKey } of made) {
    // A CA whose key is `privateKey`. `authority` issues the certificate of this CA.
    const request = { ...asked, publicKey }
    const certificatePem = await authority.issue(request, issue)
    const own = new SigningAuthority(
      certificatePem,
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    )
    const issued = new X509Certificate(await own.issue(asked, issue))
    assert.ok(issued.verify(publicKey), publicKey.asymmetricKeyType)
  }
})

test('a CA certificate is rejected if the private key does not belong to it', () => {
  const other = createAuthority('ca', nowMs)
  assert.throws(
    () => new SigningAuthority(authorityPems.certificatePem, other.keyPem),
    /does not match/,
  )
  const both = authorityPems.certificatePem + other.certificatePem
  assert.throws(() => new SigningAuthority(both, other.keyPem), /expected 1 certificate, found 2/)
  assert.throws(() => new SigningAuthority('', other.keyPem), /expected 1 certificate, found 0/)
})

test('IP addresses with an invalid length and names with non-ASCII characters are rejected', () => {
  for (const name of [der(0x87, Buffer.from([1, 2, 3])), der(0x82, Buffer.from([0xe4]))]) {
    assert.throws(() => readPemRequest(requestOf(keys, [commonName('x')], [name])), RequestError)
  }
})
