/**
 * Who a client certificate stands for: the common name of its subject is the user, its organizations are the groups. It
 * must lead to one of the given authorities; the operating system's have no say.
 */
import { X509Certificate } from 'node:crypto'
import type { User } from '../api/user.ts'

/** A chain with more intermediates than this is not looked at. */
const CHAIN_MAX = 8
const clientAuthUsage = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'
/** The part of the subject that holds a uid, as upstream defines it. */
const uidPart = '1.3.6.1.4.1.57683.2'

/** 'unverified': there is a certificate, but nobody we trust vouches for it. Undefined: it names nobody. */
export type VerifyCertificate = (certificate: X509Certificate) => User | 'unverified' | undefined

export function createVerifyCertificate(
  authorities: readonly X509Certificate[],
  wallMs: () => number,
): VerifyCertificate {
  // The certificate is the same object for all requests of a connection. Its time may still run out meanwhile.
  const known = new WeakMap<X509Certificate, User | 'unverified' | undefined>()
  return (certificate) => {
    if (!isInTime(certificate, wallMs())) return 'unverified'
    if (known.has(certificate)) return known.get(certificate)
    const user = isTrusted(certificate, authorities, wallMs()) ? userOf(certificate) : 'unverified'
    known.set(certificate, user)
    return user
  }
}

/** The certificates in a PEM file. Fails when there is none, or one cannot be read. */
export function parseCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates')
  return blocks.map((block) => new X509Certificate(block))
}

function isTrusted(leaf: X509Certificate, authorities: readonly X509Certificate[], nowMs: number): boolean {
  const usages: readonly string[] | undefined = leaf.keyUsage
  if (usages !== undefined && !usages.includes(clientAuthUsage) && !usages.includes(anyUsage)) return false
  let current: X509Certificate | undefined = leaf
  for (let length = 0; current !== undefined && length < CHAIN_MAX; length++) {
    const certificate: X509Certificate = current
    if (!isInTime(certificate, nowMs)) return false
    const isVouchedFor = authorities.some(
      (authority) => isInTime(authority, nowMs) && isIssuedBy(certificate, authority),
    )
    if (isVouchedFor) return true
    const issuer: X509Certificate | undefined = certificate.issuerCertificate
    current = issuer !== undefined && issuer !== certificate && isIssuedBy(certificate, issuer) ? issuer : undefined
  }
  return false
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

const isInTime = ({ validFrom, validTo }: X509Certificate, nowMs: number): boolean =>
  Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo)

/** Without a common name it stands for nobody. */
function userOf(certificate: X509Certificate): User | undefined {
  const { subject } = certificate.toLegacyObject()
  const parts: { readonly [part: string]: string | readonly string[] | undefined } = { ...subject }
  const name = lastOf(parts['CN'])
  if (name === undefined || name === '') return undefined
  const groups = parts['O'] ?? []
  return {
    name,
    uid: lastOf(parts[uidPart]) ?? '',
    groups: typeof groups === 'string' ? [groups] : groups,
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`,
      ],
    },
  }
}

const lastOf = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.at(-1)
