/**
 * Converts CA files to a form that makes OpenSSL trust every certificate in them, as Go does. By
 * default, OpenSSL trusts only self-signed certificates. It rejects a chain that ends at a trusted
 * intermediate certificate.
 */
import { X509Certificate } from 'node:crypto'
import { objectId, pem, sequence } from './der.ts'
import { decodePem } from './pem.ts'

const clientAuth = [1, 3, 6, 1, 5, 5, 7, 3, 2] as const

/** The error message of client-go for a CA file without certificates. */
export const noCertificates = 'data does not contain any valid RSA or ECDSA certificates'

/**
 * Returns the certificates in a PEM file. As in Go, malformed blocks are skipped. Fails if there is
 * no certificate, or if a certificate cannot be parsed.
 */
export function parseCertificates(text: string): X509Certificate[] {
  const blocks = certificateBlocks(text)
  if (blocks.length === 0) throw new Error(noCertificates)
  return blocks.map((block) => new X509Certificate(block))
}

/** Whether the bytes are a certificate in DER. */
export function isCertificate(block: Buffer): boolean {
  try {
    return new X509Certificate(block).raw.length > 0
  } catch {
    return false
  }
}

/** Returns the certificates of a PEM file in DER. */
export const certificateBlocks = (text: string): Buffer[] =>
  decodePem(text).flatMap(({ label, hasHeaders, bytes }) =>
    label === 'CERTIFICATE' && !hasHeaders ? [bytes] : [],
  )

/**
 * Returns the trust anchors with which a TLS client verifies servers. As in Go, each certificate in
 * the file is an anchor, even an intermediate certificate or the server's own one. A block that
 * cannot be parsed is skipped, whereas OpenSSL would also skip all blocks after it. Certificates
 * with keys that Go does not support are skipped, because Node crashes when it reads an issuer with
 * such a key.
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
 * Whether Go supports the key of a certificate, which is in DER or PEM. Node may crash when it
 * reads a certificate with another key (see serverTrustAnchors).
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
 * Returns the trust anchors with which a TLS server verifies clients, for the `ca` option. Fails if
 * a certificate cannot be parsed. The anchors are in OpenSSL's TRUSTED CERTIFICATE format: a
 * certificate, followed by the purposes for which it is trusted (`openssl x509 -addtrust`). The
 * option `allowPartialTrustChain` would have the same effect, but Node's tls.Server ignores it.
 */
export function clientTrustAnchors(text: string): string {
  const trust = sequence(sequence(objectId(clientAuth)))
  const anchors = parseCertificates(text).map(({ raw }) =>
    pem('TRUSTED CERTIFICATE', Buffer.concat([raw, trust])),
  )
  return anchors.join('')
}
