import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { PeerCertificate } from '../../api/request.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'
import { ClientAuthorities } from './client-authorities.ts'

const nowMs = Date.parse('2026-06-01T00:00:00Z')
const [one, other, third] = ['one', 'other', 'third'].map((name) => createAuthority(name, nowMs))
assert.ok(one !== undefined && other !== undefined && third !== undefined)

const peer = (by: Certificate, isVerified = true): PeerCertificate => {
  const { certificatePem } = issue(by, { commonName: 'x', usage: 'client', hosts: [], nowMs })
  return { certificate: new X509Certificate(certificatePem), isVerified }
}

test('a client certificate of the CA for users is rejected for front proxies, and vice versa', () => {
  const pems = { client: one.certificatePem, requestHeader: other.certificatePem }
  const authorities = new ClientAuthorities(pems, () => nowMs)
  const [ofOne, ofOther] = [peer(one), peer(other)]
  for (let times = 0; times < 2; times++) {
    assert.equal(authorities.faultOf(ofOne, 'client'), undefined)
    assert.match(
      authorities.faultOf(ofOne, 'requestHeader') ?? '',
      /not in --requestheader-client-ca-file/,
    )
    assert.match(authorities.faultOf(ofOther, 'client') ?? '', /not in --client-ca-file/)
    assert.equal(authorities.faultOf(ofOther, 'requestHeader'), undefined)
  }
  // OpenSSL might have verified the certificate through an intermediate certificate that Node does
  // not expose. It is therefore unknown which authority issued the certificate.
  assert.ok(authorities.faultOf(peer(third), 'client') !== undefined)
  assert.ok(authorities.faultOf(peer(third), 'requestHeader') !== undefined)
})

test('a certificate that OpenSSL did not verify is accepted neither for users nor for front proxies', () => {
  for (const requestHeader of [null, other.certificatePem]) {
    const authorities = new ClientAuthorities(
      { client: one.certificatePem, requestHeader },
      () => nowMs,
    )
    assert.ok(authorities.faultOf(peer(one, false), 'client') !== undefined)
    assert.ok(authorities.faultOf(peer(other, false), 'requestHeader') !== undefined)
  }
})

test('if only one kind of client has a configured CA, every certificate that OpenSSL verified is accepted for this kind of client', () => {
  const authorities = new ClientAuthorities(
    { client: one.certificatePem, requestHeader: null },
    () => nowMs,
  )
  assert.equal(authorities.faultOf(peer(third), 'client'), undefined)
  assert.ok(authorities.faultOf(peer(third), 'requestHeader') !== undefined)
})

test('a client certificate that was verified against an older CA bundle is accepted if the current bundle contains its issuer', () => {
  const authorities = new ClientAuthorities(
    { client: one.certificatePem, requestHeader: null },
    () => nowMs,
  )
  assert.equal(authorities.faultOf({ ...peer(one), isOutdated: true }, 'client'), undefined)
  assert.match(
    authorities.faultOf({ ...peer(other), isOutdated: true }, 'client') ?? '',
    /not in --client-ca-file/,
  )
  assert.ok(authorities.faultOf({ ...peer(one), isOutdated: true }, 'requestHeader') !== undefined)
})

test('the same certificate authority can issue certificates for users and for front proxies', () => {
  const pems = {
    client: one.certificatePem,
    requestHeader: other.certificatePem + one.certificatePem,
  }
  const authorities = new ClientAuthorities(pems, () => nowMs)
  assert.equal(authorities.faultOf(peer(one), 'client'), undefined)
  assert.equal(authorities.faultOf(peer(one), 'requestHeader'), undefined)
})

test('a new bundle of client CAs takes effect immediately, and an invalid bundle has no effect', () => {
  const pems = { client: one.certificatePem, requestHeader: other.certificatePem }
  const authorities = new ClientAuthorities(pems, () => nowMs)
  const ofOne = peer(one)
  assert.equal(authorities.faultOf(ofOne, 'client'), undefined)
  assert.throws(() => authorities.set({ ...pems, client: 'nothing' }))
  assert.equal(authorities.faultOf(ofOne, 'client'), undefined)
  authorities.set({ ...pems, client: third.certificatePem })
  assert.ok(authorities.faultOf(ofOne, 'client') !== undefined)
})

test('a client certificate issued by an expired CA is rejected', () => {
  const pems = { client: one.certificatePem, requestHeader: other.certificatePem }
  const later = nowMs + 100 * 365 * 86_400_000
  assert.ok(new ClientAuthorities(pems, () => later).faultOf(peer(one), 'client') !== undefined)
})
