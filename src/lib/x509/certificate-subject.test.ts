import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { readCertificateSubject, subjectPart } from './certificate-subject.ts'
import { bits, context, der, integer, objectId, sequence, set, text, time } from './der.ts'
import { DerError } from './der-reader.ts'

const commonName = [2, 5, 4, 3]
const organization = [2, 5, 4, 10]
const uid = [1, 3, 6, 1, 4, 1, 57683, 2]
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey

const part = (id: readonly number[], value: Buffer): Buffer => set(sequence(objectId(id), value))

/**
 * Returns a certificate with this subject, in the form that OpenSSL returns. Its signature is not
 * valid, but no code under test verifies it.
 */
function certificate(
  parts: readonly Buffer[],
  publicKey = p256,
  version = context(0, integer(Buffer.from([2]))),
): Buffer {
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
  const body = sequence(
    version,
    integer(Buffer.from([1])),
    algorithm,
    sequence(part(commonName, text('the issuer'))),
    sequence(time(new Date(0)), time(new Date(1e12))),
    sequence(...parts),
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  return new X509Certificate(sequence(body, algorithm, bits(Buffer.alloc(8)))).raw
}

const namesIn = (raw: Buffer): unknown =>
  Object.values(subjectPart).map((id) => readCertificateSubject(raw).get(id))

test('the common names, organizations and UIDs of a subject are read in order', () => {
  const one = part(organization, text('b'))
  const several = set(
    sequence(objectId(organization), text('a')),
    sequence(objectId(commonName), text('first')),
  )
  const parts = [
    one,
    several,
    part([2, 5, 4, 6], text('DE')),
    part(commonName, text('last')),
    part(uid, text('u1')),
  ]
  const wanted = [['first', 'last'], ['b', 'a'], ['u1']]
  assert.deepEqual(namesIn(certificate(parts)), wanted)
  // Certificates of version 1 have no version field.
  assert.deepEqual(namesIn(certificate(parts, p256, Buffer.alloc(0))), wanted)
  assert.deepEqual(namesIn(certificate([])), [[], [], []])
})

test('attack: the subject of a certificate whose key is on a curve without a NIST name is read without crashing Node', () => {
  for (const namedCurve of ['brainpoolP256r1', 'brainpoolP384r1', 'secp256k1']) {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve })
    assert.deepEqual(namesIn(certificate([part(commonName, text('jane'))], publicKey)), [
      ['jane'],
      [],
      [],
    ])
  }
})

const read = (tag: number, content: Buffer): unknown =>
  readCertificateSubject(certificate([part(commonName, der(tag, content))])).get(
    subjectPart.commonName,
  )

test('strings of all ASN.1 types in a certificate subject are decoded', () => {
  for (const tag of [0x0c, 0x12, 0x13, 0x14, 0x16])
    assert.deepEqual(read(tag, Buffer.from('12')), ['12'])
  assert.deepEqual(read(0x0c, Buffer.from('ä€')), ['ä€'])
  assert.deepEqual(read(0x14, Buffer.from('ä', 'latin1')), ['ä'])
  assert.deepEqual(read(0x1e, Buffer.from('ä€', 'utf16le').swap16()), ['ä€'])
  assert.deepEqual(read(0x1c, Buffer.from([0, 0, 0, 0x61, 0, 1, 0xf6, 0])), ['a😀'])
  assert.deepEqual(read(0x0c, Buffer.alloc(0)), [''])
})

test('a certificate subject is rejected as a whole if one of its names is not a string', () => {
  const name = der(0x03, Buffer.from([0, 0x6a]))
  assert.throws(
    () =>
      readCertificateSubject(certificate([part(commonName, text('x')), part(organization, name)])),
    DerError,
  )
  // The same invalid name is accepted in an attribute that is not read.
  assert.deepEqual(namesIn(certificate([part([2, 5, 4, 7], name)])), [[], [], []])
})
