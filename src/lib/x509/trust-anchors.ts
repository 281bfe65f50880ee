/**
 * Trust anchors for client certificates in a form that OpenSSL accepts as such. With a plain PEM it would follow a chain up to a
 * self-signed certificate and refuse an intermediate as anchor, which Go's verifier, and so kube-apiserver, accepts. OpenSSL's own form for
 * this is the TRUSTED CERTIFICATE: the certificate, then the usages it is trusted for (`openssl x509 -addtrust`). `allowPartialTrustChain`
 * would do the same, but Node's tls.Server does not pass it on.
 */
import { X509Certificate } from 'node:crypto'
import { objectId, pem, sequence } from './der.ts'

const clientAuth = [1, 3, 6, 1, 5, 5, 7, 3, 2] as const

/** The certificates in a PEM file. Fails if there is none, or one cannot be parsed. */
export function parseCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates')
  return blocks.map((block) => new X509Certificate(block))
}

/** For the `ca` option of a TLS server. Fails as parseCertificates does. */
export function clientTrustAnchors(text: string): string {
  const trust = sequence(sequence(objectId(clientAuth)))
  const anchors = parseCertificates(text).map(({ raw }) => pem('TRUSTED CERTIFICATE', Buffer.concat([raw, trust])))
  return anchors.join('')
}
