/**
 * Which certificate authority issued a client certificate: one of the client CAs, whose
 * certificates name users, or one of the request header CAs, whose certificates identify front
 * proxies. OpenSSL verifies in the handshake, against all of them together. If both kinds are
 * configured, or the bundles have changed since, a certificate counts for those whose bundle
 * contains its issuer: Node does not tell which path OpenSSL found, nor the intermediates that a
 * client sent.
 */
import type { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../../api/request.ts'
import { parseCertificates } from '../../lib/x509/trust-anchors.ts'

export type AuthorityUse = 'client' | 'requestHeader'

/** PEM bundles; null: none is configured. */
export type AuthorityPems = { readonly [use in AuthorityUse]: string | null }

/** All bundles, for TLS; undefined if there is none. */
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

  /** Fails if a bundle cannot be parsed; then nothing changes. */
  set(pems: AuthorityPems): void {
    const [client, requestHeader] = [anchorsOf(pems.client), anchorsOf(pems.requestHeader)]
    this.#pems = pems
    this.#anchors = { client, requestHeader }
    this.#issued = emptyVerdicts()
  }

  /**
   * Undefined if one of these authorities issued the certificate and it was valid in the handshake;
   * else why not.
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
