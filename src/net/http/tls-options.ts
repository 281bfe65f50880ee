/** Options for Node's TLS: the serving certificate, the client CAs and the protocols. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { clientTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import type { Limits } from './limits.ts'

export type TlsChoice = Certificate & {
  /**
   * CAs of client certificates. Even a client without a valid certificate can connect; the handler
   * decides what it may do. If absent, the server requests no client certificate.
   */
  readonly clientCaPem?: string | undefined
  /** Minimum version of TLS. */
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  /**
   * Cipher suites in OpenSSL's format. By default, suites with forward secrecy and authenticated
   * encryption are used.
   */
  readonly tlsCiphers?: string | undefined
  /** Key exchange groups in OpenSSL's format. By default, OpenSSL chooses them. */
  readonly tlsCurves?: string | undefined
  /** Whether the server offers HTTP/2. True by default. */
  readonly servesHttp2?: boolean
}

/**
 * Signature algorithms that Go also supports. OpenSSL's default list would accept client keys on
 * brainpool curves, which crash the process in some Node.js functions.
 */
const sigalgs = [
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'ecdsa_secp521r1_sha512',
  'ed25519',
  'rsa_pss_rsae_sha256',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pss_pss_sha256',
  'rsa_pss_pss_sha384',
  'rsa_pss_pss_sha512',
  'rsa_pkcs1_sha256',
  'rsa_pkcs1_sha384',
  'rsa_pkcs1_sha512',
].join(':')

/**
 * The cipher suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated
 * encryption (RFC 9325, section 4.2). Node's default list also contains suites with CBC or RSA key
 * exchange.
 */
const strongCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/**
 * Returns the options of a TLS context. Throws if the key and the certificate do not match, or if a
 * file is empty. OpenSSL would accept an empty file, and then every handshake would fail.
 */
export function secureContext({
  certificatePem,
  keyPem,
  clientCaPem,
  tlsMinVersion = 'TLSv1.2',
  tlsCiphers,
  tlsCurves,
}: TlsChoice): SecureContextOptions {
  const isPair = new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
  if (!isPair) throw new Error('the private key does not match the certificate')
  // Set `ca` even if no client certificate is requested. Without it, Node would load its 150
  // built-in root certificates.
  const ca = clientCaPem === undefined ? certificatePem : clientTrustAnchors(clientCaPem)
  // Disable renegotiation. After a renegotiation, the peer could have another certificate, but the
  // socket's `authorized` would still describe the previous one.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  const ciphers = tlsCiphers ?? strongCiphers
  return {
    cert: certificatePem,
    key: keyPem,
    ca,
    minVersion: tlsMinVersion,
    secureOptions,
    sigalgs,
    ciphers,
    ...(tlsCurves === undefined ? {} : { ecdhCurve: tlsCurves }),
  }
}

export function tlsOptions(choice: TlsChoice, limits: Limits): TlsOptions {
  return {
    ...secureContext(choice),
    ALPNProtocols: (choice.servesHttp2 ?? true) ? ['h2', 'http/1.1'] : ['http/1.1'],
    requestCert: choice.clientCaPem !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMsMax,
  }
}
