/**
 * Determines which certificate authority issued a client certificate. Client CAs issue certificates
 * that name users; request header CAs issue certificates that identify front proxies.
 *
 * During the handshake, OpenSSL verifies a certificate against the authorities of both kinds. Node
 * does not expose the path that OpenSSL found, nor the intermediates that the client sent. If both
 * kinds are configured, or the bundles have changed since the handshake, the authority that OpenSSL
 * found is therefore unknown. In these cases, a certificate is accepted for each use whose bundle
 * contains its issuer.
 */
import type { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../../api/request.ts'
import { parseCertificates } from '../../lib/x509/trust-anchors.ts'

export type AuthorityUse = 'client' | 'requestHeader'

/**
 * The configured CA certificates (PEM) for clients and for front proxies. Null means that none are
 * configured.
 */
export type AuthorityPems = { readonly [use in AuthorityUse]: string | null }

/** Joins all bundles, for TLS. Returns undefined if no bundle is configured. */
export function joinPems(pems: AuthorityPems): string | undefined {
  const given = Object.values(pems).filter((pem) => pem !== null)
  return given.length === 0 ? undefined : given.join('\n')
}

export class ClientAuthorities {
  readonly #wallMs: () => number
  #pems: AuthorityPems = { client: null, requestHeader: null }
  #anchors: { readonly [use in AuthorityUse]: readonly X509Certificate[] } = {
    client: [],
    requestHeader: [],
  }
  #issued: { readonly [use in AuthorityUse]: WeakMap<PeerCertificate, boolean> } = emptyVerdicts()

  constructor(pems: AuthorityPems, wallMs: () => number) {
    this.#wallMs = wallMs
    this.set(pems)
  }

  get pems(): AuthorityPems {
    return this.#pems
  }

  /** Replaces the bundles. If a bundle cannot be parsed, throws and keeps the current bundles. */
  set(pems: AuthorityPems): void {
    const [client, requestHeader] = [anchorsOf(pems.client), anchorsOf(pems.requestHeader)]
    this.#pems = pems
    this.#anchors = { client, requestHeader }
    this.#issued = emptyVerdicts()
  }

  /**
   * Checks a certificate of a client or of a front proxy, depending on `use`. Returns undefined if
   * OpenSSL verified the certificate and a CA that is configured for this use issued it. Otherwise
   * returns the reason for the rejection.
   */
  faultOf(peer: PeerCertificate, use: AuthorityUse): string | undefined {
    if (!peer.isVerified) return peer.fault ?? 'certificate signed by unknown authority'
    const isAlone = this.#pems.client === null || this.#pems.requestHeader === null
    if (isAlone && this.#pems[use] === null) return 'certificate signed by unknown authority'
    if (isAlone && peer.isOutdated !== true) return undefined
    const isIssued = this.#issued[use].get(peer) ?? this.#isIssued(peer, use)
    this.#issued[use].set(peer, isIssued)
    return isIssued ? undefined : notDirectly[use]
  }

  #isIssued({ certificate }: PeerCertificate, use: AuthorityUse): boolean {
    const nowMs = this.#wallMs()
    return this.#anchors[use].some(
      (anchor) =>
        Date.parse(anchor.validFrom) <= nowMs &&
        nowMs <= Date.parse(anchor.validTo) &&
        certificate.checkIssued(anchor) &&
        certificate.verify(anchor.publicKey),
    )
  }
}

const notDirectly: { readonly [use in AuthorityUse]: string } = {
  client: 'its issuer is not in --client-ca-file',
  requestHeader: 'its issuer is not in --requestheader-client-ca-file',
}

const emptyVerdicts = () => ({
  client: new WeakMap<PeerCertificate, boolean>(),
  requestHeader: new WeakMap(),
})

const anchorsOf = (pem: string | null): readonly X509Certificate[] =>
  pem === null ? [] : parseCertificates(pem)
