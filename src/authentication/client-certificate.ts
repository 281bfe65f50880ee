/**
 * The user of a client certificate: the common name of its subject is the user, its organizations are the groups. OpenSSL has verified in
 * the handshake whether its chain leads to one of the client CAs. A connection may outlive the certificate, so its validity period is
 * checked for each request.
 */
import type { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../api/request.ts'
import type { User } from '../api/user.ts'

/** The OID of the subject's attribute that holds a uid, as upstream defines it. */
const uidPart = '1.3.6.1.4.1.57683.2'

/** 'unverified': no client CA signed it, or it is outside of its validity period. Undefined: its subject has no common name. */
export type VerifyCertificate = (peer: PeerCertificate) => User | 'unverified' | undefined

export function createVerifyCertificate(wallMs: () => number): VerifyCertificate {
  const known = new WeakMap<PeerCertificate, Subject>()
  return (peer) => {
    if (!peer.isVerified) return 'unverified'
    const found = known.get(peer) ?? subjectOf(peer)
    known.set(peer, found)
    const nowMs = wallMs()
    return found.fromMs <= nowMs && nowMs <= found.toMs ? found.user : 'unverified'
  }
}

type Subject = { readonly fromMs: number; readonly toMs: number; readonly user: User | 'unverified' | undefined }

const subjectOf = ({ certificate }: PeerCertificate): Subject => ({
  fromMs: Date.parse(certificate.validFrom),
  toMs: Date.parse(certificate.validTo),
  user: userOf(certificate),
})

/** Undefined without a common name. A certificate with several uids, or an empty one, is refused. */
function userOf(certificate: X509Certificate): User | 'unverified' | undefined {
  const { subject } = certificate.toLegacyObject()
  const parts: { readonly [part: string]: string | readonly string[] | undefined } = { ...subject }
  const uid = parts[uidPart] ?? []
  const name = lastOf(parts['CN'])
  if (name === undefined || name === '') return undefined
  if (uid === '' || (typeof uid === 'object' && uid.length > 1)) return 'unverified'
  const groups = parts['O'] ?? []
  return {
    name,
    uid: lastOf(uid) ?? '',
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
