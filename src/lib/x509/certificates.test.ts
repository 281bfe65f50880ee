import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { readCertificateSubject, subjectPart } from './certificate-subject.ts'
import { createAuthority, createSelfSigned, issue } from './certificates.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const hosts = ['localhost', 'kubernetes.default.svc', '127.0.0.1', '::1', 'fd00:0:0:1::a:b']

test('OpenSSL trusts a created self-signed certificate for the hosts of the certificate', () => {
  const { certificatePem, keyPem } = createSelfSigned('keelson', hosts, now)
  const certificate = new X509Certificate(certificatePem)
  assert.equal(certificate.subject, 'CN=keelson')
  assert.equal(certificate.issuer, 'CN=keelson')
  assert.ok(certificate.verify(certificate.publicKey))
  assert.ok(certificate.ca)
  assert.equal(certificate.checkHost('localhost'), 'localhost')
  assert.equal(certificate.checkHost('kubernetes.default.svc'), 'kubernetes.default.svc')
  assert.equal(certificate.checkHost('example.com'), undefined)
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal(certificate.checkIP('::1'), '::1')
  assert.equal(certificate.checkIP('fd00:0:0:1::a:b'), 'fd00:0:0:1::a:b')
  assert.equal(Date.parse(certificate.validFrom), now - 3_600_000)
  assert.equal(Date.parse(certificate.validTo), Date.parse('2036-03-01T10:00:00Z'))
  assert.match(keyPem, /BEGIN PRIVATE KEY/)
})

test('each created certificate has its own key and serial number', () => {
  const one = new X509Certificate(createSelfSigned('keelson', hosts, now).certificatePem)
  const other = new X509Certificate(createSelfSigned('keelson', hosts, now).certificatePem)
  assert.notEqual(one.serialNumber, other.serialNumber)
  assert.notEqual(one.fingerprint256, other.fingerprint256)
})

test('a certificate that an authority issues is trusted through the authority, but only for its usage', () => {
  const authority = createAuthority('keelson-ca', now)
  const root = new X509Certificate(authority.certificatePem)
  assert.ok(root.ca && root.verify(root.publicKey))
  const wanted = {
    commonName: 'admin',
    organizations: ['system:masters', 'x, "y"'],
    hosts: [],
    nowMs: now,
  } as const
  const client = new X509Certificate(
    issue(authority, { ...wanted, usage: 'client' }).certificatePem,
  )
  assert.ok(client.checkIssued(root) && client.verify(root.publicKey) && !client.ca)
  const subject = readCertificateSubject(client.raw)
  assert.deepEqual(subject.get(subjectPart.organization), ['system:masters', 'x, "y"'])
  assert.deepEqual(subject.get(subjectPart.commonName), ['admin'])
  assert.deepEqual(client.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  const server = new X509Certificate(
    issue(authority, { ...wanted, usage: 'server', hosts }).certificatePem,
  )
  assert.equal(server.checkHost('localhost'), 'localhost')
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1'])
})
