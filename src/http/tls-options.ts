/** What Node's TLS is told: our certificate, whose certificates clients may show, which protocols are spoken. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { Certificate } from '../lib/x509/certificates.ts'
import { clientTrustAnchors } from '../lib/x509/trust-anchors.ts'
import type { Limits } from './limits.ts'

export type TlsChoice = Certificate & {
  /**
   * The authorities of client certificates. A client without one, or with one that they do not vouch for, is let in all the
   * same: what that means is for the handler to say. Absent: no certificate is asked for.
   */
  readonly clientCaPem?: string | undefined
  /** The oldest version that clients may use. */
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** Whether clients are offered HTTP/2. Absent: they are. */
  readonly servesHttp2?: boolean
}

/** Fails when key and certificate do not fit. OpenSSL would take a file that is still empty, and then refuse every client. */
export function secureContext({
  certificatePem,
  keyPem,
  clientCaPem,
  tlsMinVersion = 'TLSv1.2',
}: TlsChoice): SecureContextOptions {
  const isPair = new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
  if (!isPair) throw new Error('the private key is not that of the certificate')
  // Without any authority Node would load the system's 150, which nobody here has a use for.
  const ca = clientCaPem === undefined ? certificatePem : clientTrustAnchors(clientCaPem)
  // A second handshake could bring another certificate, while the verdict on the socket stays that on the first.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  return { cert: certificatePem, key: keyPem, ca, minVersion: tlsMinVersion, secureOptions }
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
