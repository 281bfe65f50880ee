/**
 * Creates certificates for a server without configured ones: self-signed certificates, CAs, and
 * certificates that a CA issues. Node can parse certificates but not create them, so the structures
 * of RFC 5280 that are needed are encoded here in DER.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIPv4 } from 'node:net'
import {
  bits,
  context,
  der,
  integer,
  objectId,
  octets,
  pem,
  sequence,
  set,
  text,
  time,
  yes,
} from './der.ts'

export type Certificate = { readonly certificatePem: string; readonly keyPem: string }

/** The lifetime of certificates, which is longer than the lifetime of any test cluster. */
const VALID_YEARS = 10

const oid = {
  commonName: [2, 5, 4, 3],
  organization: [2, 5, 4, 10],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  keyUsage: [2, 5, 29, 15],
  extendedKeyUsage: [2, 5, 29, 37],
  subjectKeyIdentifier: [2, 5, 29, 14],
  authorityKeyIdentifier: [2, 5, 29, 35],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  clientAuth: [1, 3, 6, 1, 5, 5, 7, 3, 2],
} as const

/**
 * Creates a self-signed certificate. `hosts` are the DNS names and IP addresses of the server. The
 * certificate is its own CA, so clients can use it as their CA file.
 */
export function createSelfSigned(
  commonName: string,
  hosts: readonly string[],
  nowMs: number,
): Certificate {
  const keys = createKeys()
  const name = distinguishedName(commonName, [])
  // Bits 0, 2 and 5 of the key usage: digital signature, key encipherment and certificate signing.
  const extensions = [
    keyUsage(2, 0b1010_0100),
    extendedUsage(oid.serverAuth),
    isAuthority,
    keyIdentifier(keys.publicDer),
    alternativeNames(hosts),
  ]
  return build({
    keys,
    subject: name,
    issuer: name,
    signer: keys.privateKey,
    extensions,
    valid: validFrom(nowMs),
  })
}

/** The period in which a certificate is valid, including both ends. */
export type Validity = { readonly fromMs: number; readonly toMs: number }

/**
 * Creates a CA, whose key signs the certificates that `issue` creates. If `validity` is a number,
 * it is the current time, and the validity period has the default length.
 */
export function createAuthority(commonName: string, validity: number | Validity): Certificate {
  const keys = createKeys()
  const name = distinguishedName(commonName, [])
  // Bits 5 and 6 of the key usage: certificate signing and CRL signing.
  const extensions = [keyUsage(1, 0b0000_0110), isAuthority, keyIdentifier(keys.publicDer)]
  const valid = typeof validity === 'number' ? validFrom(validity) : validity
  return build({ keys, subject: name, issuer: name, signer: keys.privateKey, extensions, valid })
}

type CertificateRequest = {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly usage: 'client' | 'server'
  /** The DNS names and IP addresses of a server. */
  readonly hosts: readonly string[]
} & ({ readonly nowMs: number } | Validity)

export function issue(authority: Certificate, wanted: CertificateRequest): Certificate {
  const keys = createKeys()
  const parsed = new X509Certificate(authority.certificatePem)
  const issuerPublicDer = parsed.publicKey.export({ type: 'spki', format: 'der' })
  const { commonName, organizations = [], usage, hosts } = wanted
  const extensions = [
    keyUsage(5, 0b1010_0000),
    extendedUsage(usage === 'client' ? oid.clientAuth : oid.serverAuth),
    keyIdentifier(keys.publicDer),
    sequence(
      objectId(oid.authorityKeyIdentifier),
      octets(sequence(der(0x80, digestOf(issuerPublicDer)))),
    ),
    ...(hosts.length === 0 ? [] : [alternativeNames(hosts)]),
  ]
  return build({
    keys,
    subject: distinguishedName(commonName, organizations),
    issuer: distinguishedName(parsed.subject.replace(/^CN=/, ''), []),
    signer: createPrivateKey(authority.keyPem),
    extensions,
    valid: 'nowMs' in wanted ? validFrom(wanted.nowMs) : wanted,
  })
}

type Keys = { readonly publicDer: Buffer; readonly privateKey: KeyObject }

function createKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { publicDer: publicKey.export({ type: 'spki', format: 'der' }), privateKey }
}

type Plan = {
  readonly keys: Keys
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly signer: KeyObject
  readonly extensions: readonly Buffer[]
  readonly valid: Validity
}

/**
 * Returns the default validity period. It starts an hour ago, for clients whose clocks are slow.
 */
function validFrom(nowMs: number): Validity {
  const to = new Date(nowMs)
  to.setUTCFullYear(to.getUTCFullYear() + VALID_YEARS)
  return { fromMs: nowMs - 3_600_000, toMs: to.getTime() }
}

function build({ keys, subject, issuer, signer, extensions, valid }: Plan): Certificate {
  const algorithm = sequence(objectId(oid.ecdsaWithSha256))
  const body = sequence(
    context(0, integer(Buffer.from([2]))), // version 3 of X.509
    integer(randomBytes(16)),
    algorithm,
    issuer,
    sequence(time(new Date(valid.fromMs)), time(new Date(valid.toMs))),
    subject,
    keys.publicDer,
    context(3, sequence(...extensions)),
  )
  return {
    certificatePem: pem(
      'CERTIFICATE',
      sequence(body, algorithm, bits(sign('sha256', body, signer))),
    ),
    keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/**
 * Encodes a subject. Organizations precede the common name, as in certificates that Kubernetes'
 * tools create.
 */
function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const parts = organizations.map((organization) => part(oid.organization, organization))
  return sequence(...parts, ...(commonName === '' ? [] : [part(oid.commonName, commonName)]))
}

const part = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), text(value)))

const isAuthority = sequence(objectId(oid.basicConstraints), yes, octets(sequence(yes)))

const keyUsage = (unusedBits: number, usage: number): Buffer =>
  sequence(objectId(oid.keyUsage), yes, octets(der(0x03, Buffer.from([unusedBits, usage]))))

const extendedUsage = (usage: readonly number[]): Buffer =>
  sequence(objectId(oid.extendedKeyUsage), octets(sequence(objectId(usage))))

const digestOf = (publicDer: Buffer): Buffer => createHash('sha1').update(publicDer).digest()

const keyIdentifier = (publicDer: Buffer): Buffer =>
  sequence(objectId(oid.subjectKeyIdentifier), octets(octets(digestOf(publicDer))))

const alternativeNames = (hosts: readonly string[]): Buffer =>
  sequence(
    objectId(oid.subjectAltName),
    octets(sequence(...[...new Set(hosts)].map(alternativeName))),
  )

function alternativeName(host: string): Buffer {
  return isAddress(host) ? der(0x87, addressBytes(host)) : der(0x82, Buffer.from(host, 'ascii'))
}

/**
 * Whether a host is an IP address. net.isIP is not used, because its regular expression takes 7 ms
 * to compile. A DNS name contains no colon and does not consist of four numbers.
 */
const isAddress = (host: string): boolean => host.includes(':') || isIPv4(host)

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser brings an IPv6 address into a canonical form that has no IPv4 address at its
  // end.
  const canonical = new URL(`https://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = canonical.split('::')
  const before = head.split(':').filter((group) => group !== '')
  const after = tail.split(':').filter((group) => group !== '')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = canonical.includes('::') ? [...before, ...zeros, ...after] : before
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
