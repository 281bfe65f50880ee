/**
 * Certificate signing requests (PKCS #10, RFC 2986): the subject, and whether the sender has the private key. Node parses certificates
 * only.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { DerError, DerReader } from './der-reader.ts'
import { decodePem } from './pem.ts'

export type CertificateRequest = { readonly organizations: readonly string[]; readonly commonName: string }

/** Why a request cannot be accepted, in the words of Go's crypto/x509. */
export class RequestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RequestError'
  }
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const BIT_STRING = 0x03
const OBJECT_ID = 0x06

/** The digest of each signature algorithm, by the DER of its object id, in hex. */
const algorithms: ReadonlyMap<string, { readonly digest: string | null; readonly isPss?: true }> = new Map([
  ['2a864886f70d01010b', { digest: 'sha256' }],
  ['2a864886f70d01010c', { digest: 'sha384' }],
  ['2a864886f70d01010d', { digest: 'sha512' }],
  ['2a864886f70d01010a', { digest: 'sha256', isPss: true }],
  ['2a8648ce3d040302', { digest: 'sha256' }],
  ['2a8648ce3d040303', { digest: 'sha384' }],
  ['2a8648ce3d040304', { digest: 'sha512' }],
  ['2b6570', { digest: null }],
  // Go still accepts SHA-1 here: the signature of a request only proves that its sender has the key.
  ['2a864886f70d010105', { digest: 'sha1' }],
  ['2b0e03021d', { digest: 'sha1' }],
  ['2a8648ce3d0401', { digest: 'sha1' }],
])

const md5WithRsa = '2a864886f70d010104'

/** Reads the PEM block that a CertificateSigningRequest has, in base64. Fails with a RequestError. */
export function readPemRequest(base64: string): CertificateRequest {
  const [block] = decodePem(Buffer.from(base64, 'base64').toString('latin1'))
  if (block?.label !== 'CERTIFICATE REQUEST') throw new RequestError('PEM block type must be CERTIFICATE REQUEST')
  return readRequest(block.bytes)
}

/** Fails with a RequestError, also if the signature was not made with the request's key. */
export function readRequest(der: Buffer): CertificateRequest {
  try {
    return readSigned(der)
  } catch (cause) {
    if (cause instanceof DerError) throw new RequestError(cause.message, { cause })
    throw cause
  }
}

function readSigned(der: Buffer): CertificateRequest {
  const outer = new DerReader(der)
  const request = outer.sequence('certificateRequest')
  if (!outer.isAtEnd) throw new RequestError('asn1: syntax error: trailing data')
  const info = request.expect(SEQUENCE, 'tbsCertificateRequest')
  const algorithm = request.sequence('AlgorithmIdentifier').expect(OBJECT_ID, 'ObjectIdentifier')
  // The first byte is the number of unused bits; a signature has none.
  const [unusedBits, ...signature] = request.expect(BIT_STRING, 'BitString').content
  if (unusedBits !== 0) throw new RequestError('asn1: syntax error: invalid padding bits in BIT STRING')
  const fields = new DerReader(info.content)
  fields.expect(INTEGER, 'int')
  const subject = fields.any()
  const publicKey = readPublicKey(fields.expect(SEQUENCE, 'publicKeyInfo').whole)
  checkSignature(info.whole, Buffer.from(signature), { publicKey, algorithm: algorithm.content.toString('hex') })
  return readSubject(subject.content)
}

function readPublicKey(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new RequestError('x509: unsupported public key', { cause })
  }
}

type Signer = { readonly publicKey: KeyObject; readonly algorithm: string }

function checkSignature(signed: Buffer, signature: Buffer, { publicKey, algorithm }: Signer): void {
  if (algorithm === md5WithRsa) throw new RequestError('x509: cannot verify signature: insecure algorithm MD5-RSA')
  const known = algorithms.get(algorithm)
  if (known === undefined) throw new RequestError('x509: cannot verify signature: algorithm unimplemented')
  const key = known.isPss === true ? { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING } : publicKey
  if (verify(known.digest, signed, key, signature)) return
  const type = publicKey.asymmetricKeyType
  if (type === 'ec') throw new RequestError('x509: ECDSA verification failure')
  throw new RequestError(type === 'ed25519' ? 'x509: Ed25519 verification failure' : 'crypto/rsa: verification error')
}

const commonNameId = '550403'
const organizationId = '55040a'

function readSubject(content: Buffer): CertificateRequest {
  const parts: { readonly id: string; readonly text: string }[] = []
  for (const sets = new DerReader(content); !sets.isAtEnd; ) {
    for (const set = new DerReader(sets.any().content); !set.isAtEnd; ) {
      const part = set.sequence('AttributeTypeAndValue')
      const id = part.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
      parts.push({ id, text: part.any().content.toString('utf8') })
    }
  }
  const textsOf = (wanted: string): string[] => parts.filter(({ id }) => id === wanted).map(({ text }) => text)
  return { organizations: textsOf(organizationId), commonName: textsOf(commonNameId).at(-1) ?? '' }
}
