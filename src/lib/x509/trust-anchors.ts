/**
 * Trust anchors in a form that OpenSSL accepts as such. With a plain PEM it would follow a chain up
 * to a self-signed certificate and refuse an intermediate as anchor, which Go's verifier, and so
 * kube-apiserver, accepts.
 */
import { X509Certificate } from 'node:crypto'
import { objectId, pem, sequence } from './der.ts'
import { decodePem } from './pem.ts'

const clientAuth = [1, 3, 6, 1, 5, 5, 7, 3, 2] as const

/** client-go's message. */
export const noCertificates = 'data does not contain any valid RSA or ECDSA certificates'

/**
 * The certificates in a PEM file. As in Go, malformed blocks are skipped. Fails if there is none,
 * or one cannot be parsed.
 */
export function parseCertificates(text: string): X509Certificate[] {
  const blocks = certificateBlocks(text)
  if (blocks.length === 0) throw new Error(noCertificates)
  return blocks.map((block) => new X509Certificate(block))
}

/** Whether DER is a certificate. */
export function isCertificate(block: Buffer): boolean {
  try {
    return new X509Certificate(block).raw.length > 0
  } catch {
    return false
  }
}

/** DER. */
export const certificateBlocks = (text: string): Buffer[] =>
  decodePem(text).flatMap(({ label, hasHeaders, bytes }) =>
    label === 'CERTIFICATE' && !hasHeaders ? [bytes] : [],
  )

/**
 * For a TLS client: the servers that it trusts. As in Go, any certificate of the bundle is an
 * anchor, be it an intermediate or the server's own, and a block that cannot be parsed is skipped;
 * OpenSSL would skip all that follow it in the same text. So is one with a key on a curve that Go
 * does not know: Node reads the issuers of a server that it trusts in a way that ends the process
 * if one has such a key.
 */
export const serverTrustAnchors = (text: string): ServerTrustAnchors => ({
  ca: certificateBlocks(text)
    .filter(hasKnownKey)
    .map((block) => pem('CERTIFICATE', block)),
  allowPartialTrustChain: true,
})

const curves: ReadonlySet<string | undefined> = new Set([
  'secp224r1',
  'prime256v1',
  'secp384r1',
  'secp521r1',
])

/**
 * Whether Go can use the key of a certificate (DER or PEM). Node may crash with others: see
 * serverTrustAnchors.
 */
export function hasKnownKey(block: Buffer | string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(block).publicKey
    return asymmetricKeyType !== 'ec' || curves.has(asymmetricKeyDetails?.namedCurve)
  } catch {
    return false
  }
}

export type ServerTrustAnchors = { readonly ca: string[]; readonly allowPartialTrustChain: true }

/**
 * For the `ca` option of a TLS server: the clients that it trusts. Fails as parseCertificates does.
 * OpenSSL's own form of anchors is the TRUSTED CERTIFICATE: the certificate, then the usages it is
 * trusted for (`openssl x509 -addtrust`). `allowPartialTrustChain` would do the same, but Node's
 * tls.Server does not pass it on.
 */
export function clientTrustAnchors(text: string): string {
  const trust = sequence(sequence(objectId(clientAuth)))
  const anchors = parseCertificates(text).map(({ raw }) =>
    pem('TRUSTED CERTIFICATE', Buffer.concat([raw, trust])),
  )
  return anchors.join('')
}
