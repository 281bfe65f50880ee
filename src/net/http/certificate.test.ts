import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadOrCreateCertificate } from './certificate.ts'

test('a created serving certificate is not a CA, and its file also contains the certificate of the CA that issued it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-cert-dir-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const nowMs = Date.parse('2026-03-01T10:00:00Z')
  const { certificatePath, certificate } = loadOrCreateCertificate(folder, ['10.1.2.3'], nowMs)
  const [serving, authority, ...more] = readFileSync(certificatePath, 'utf8')
    .split(/(?=-----BEGIN)/)
    .map((pem) => new X509Certificate(pem))
  assert.ok(serving !== undefined && authority !== undefined && more.length === 0)
  assert.ok(!serving.ca)
  assert.ok(authority.ca && authority.verify(authority.publicKey))
  assert.ok(serving.checkIssued(authority) && serving.verify(authority.publicKey))
  assert.equal(serving.checkIP('10.1.2.3'), '10.1.2.3')
  assert.equal(serving.checkHost('localhost'), 'localhost')
  assert.deepEqual(loadOrCreateCertificate(folder, [], nowMs).certificate, certificate)
})
