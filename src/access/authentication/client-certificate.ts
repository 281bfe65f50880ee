/**
 * Authenticates client certificates. The common name of the subject is the user, and the
 * organizations are the groups. During the handshake, OpenSSL verified that the chain leads to a
 * configured authority, and that the certificate is for clients. A connection can outlive its
 * certificate, so the validity period is checked for each request.
 */
import type { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import {
  type CertificateSubject,
  readCertificateSubject,
  subjectPart,
} from '../../lib/x509/certificate-subject.ts'
import { DerError } from '../../lib/x509/der-reader.ts'
import { type Attempt, unknownCaller } from './attempt.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'

/** The longest serial number that RFC 5280, section 4.1.2.2, allows: 20 octets. */
const SERIAL_HEX_DIGITS_MAX = 40

/**
 * Verifies a client certificate. If its subject has no common name, the result has the kind
 * `unknown`.
 */
export type VerifyCertificate = (peer: PeerCertificate) => Attempt

export type CertificateOptions = {
  /**
   * Returns undefined if a client CA accepts the certificate, otherwise the reason for the
   * rejection.
   */
  readonly faultOf: (peer: PeerCertificate) => string | undefined
  /** Whether the AllowParsingUserUIDFromCertAuth feature gate is enabled. */
  readonly parsesUid: boolean
  readonly wallMs: () => number
  /** Records the remaining lifetime of each certificate. */
  readonly lifetimes: { observe(seconds: number): void }
}

export function createVerifyCertificate(options: CertificateOptions): VerifyCertificate {
  const { faultOf, parsesUid, wallMs, lifetimes } = options
  const validities = new WeakMap<PeerCertificate, Validity>()
  const attempts = new WeakMap<PeerCertificate, Attempt>()
  return (peer) => {
    const nowMs = wallMs()
    const validity = validities.get(peer) ?? validityOf(peer.certificate)
    validities.set(peer, validity)
    lifetimes.observe((validity.toMs - nowMs) / 1000)
    // Do not read the subject of an unverified certificate: anyone can create a certificate with a
    // very long subject.
    const fault = faultOf(peer) ?? (isInTime(validity, nowMs) ? undefined : outOfTime)
    if (fault !== undefined) return refuse(peer, fault)
    const attempt = attempts.get(peer) ?? attemptOf(peer, parsesUid)
    attempts.set(peer, attempt)
    return attempt
  }
}

export type Validity = { readonly fromMs: number; readonly toMs: number }

export const validityOf = ({ validFrom, validTo }: X509Certificate): Validity => ({
  fromMs: Date.parse(validFrom),
  toMs: Date.parse(validTo),
})

export const isInTime = ({ fromMs, toMs }: Validity, nowMs: number): boolean =>
  fromMs <= nowMs && nowMs <= toMs

export const outOfTime = 'certificate has expired or is not yet valid'

export const refuse = ({ certificate }: PeerCertificate, why: string): Attempt => ({
  kind: 'bad',
  why: `verifying certificate SN=${shownSerial(certificate)} failed: ${why}`,
})

/**
 * Formats the serial number in decimal, as kube-apiserver does. A serial number that is longer than
 * RFC 5280 allows is truncated and printed in hexadecimal, because the conversion to decimal is
 * slow and anyone can create such a certificate.
 */
function shownSerial({ serialNumber }: X509Certificate): string {
  const sign = serialNumber.startsWith('-') ? '-' : ''
  const digits = serialNumber.slice(sign.length)
  if (digits.length <= SERIAL_HEX_DIGITS_MAX) return `${sign}${BigInt(`0x${digits}`)}`
  return `${sign}0x${digits.slice(0, SERIAL_HEX_DIGITS_MAX)}...`
}

function attemptOf(peer: PeerCertificate, parsesUid: boolean): Attempt {
  const user = userOf(peer.certificate, parsesUid)
  if (user === undefined) return unknownCaller
  return typeof user === 'string'
    ? refuse(peer, user)
    : { kind: 'known', user: withAuthenticatedGroup(user) }
}

/**
 * Returns the user that the subject names, or undefined if the subject has no common name. Returns
 * the reason for a rejection if the subject cannot be read, has several UIDs, or has an empty UID.
 */
function userOf(certificate: X509Certificate, parsesUid: boolean): User | string | undefined {
  const subject = subjectOf(certificate)
  if (subject === undefined) return unreadable
  const name = commonNameIn(subject)
  if (name === '') return undefined
  const uids = parsesUid ? (subject.get(subjectPart.uid) ?? []) : []
  if (uids.length > 1) return 'expected 1 UID, but found multiple'
  if (uids[0] === '') return 'UID cannot be an empty string'
  return {
    name,
    uid: uids[0] ?? '',
    groups: subject.get(subjectPart.organization) ?? [],
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`,
      ],
    },
  }
}

export const unreadable = 'the subject of the certificate cannot be read'

/**
 * Returns the common name in the subject of a certificate. As in Go, this is the last one if there
 * are several, and an empty string if there is none. Returns undefined if the subject cannot be
 * read.
 */
export function commonNameOf(certificate: X509Certificate): string | undefined {
  const subject = subjectOf(certificate)
  return subject && commonNameIn(subject)
}

const commonNameIn = (subject: CertificateSubject): string =>
  subject.get(subjectPart.commonName)?.at(-1) ?? ''

function subjectOf({ raw }: X509Certificate): CertificateSubject | undefined {
  try {
    return readCertificateSubject(raw)
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}
