/**
 * Parses certificate signing requests (PKCS #10, RFC 2986), because Node parses only certificates.
 * Checks that the sender has the private key.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { constants, type KeyObject, verify } from 'node:crypto'
import { DerError, DerReader, type DerValue } from './der-reader.ts'
import { decodePem, type PemBlock } from './pem.ts'
import { type KeyType, readRequestKey, RequestError, type RequestKey } from './request-key.ts'

export { RequestError } from './request-key.ts'

export type CertificateRequest = {
  readonly organizations: readonly string[]
  readonly commonName: string
}

/** All fields of a request that are used for the certificate. */
export type WholeRequest = CertificateRequest & {
  /** The attributes of the subject in order. `id` is the object id in hex. */
  readonly subject: readonly { readonly id: string; readonly text: string }[]
  readonly names: AlternativeNames
  readonly publicKey: KeyObject
}

/**
 * The names in the extension subjectAltName (RFC 5280, section 4.2.1.6), without names of other
 * types.
 */
export type AlternativeNames = {
  readonly dns: readonly string[]
  readonly emails: readonly string[]
  /** IP addresses of 4 or 16 bytes each. */
  readonly addresses: readonly Buffer[]
  readonly uris: readonly string[]
}

const SEQUENCE = 0x30
const SET = 0x31
/** Tag of the attributes of a request: the context-specific tag 0. */
const ATTRIBUTES = 0xa0
const INTEGER = 0x02
const BIT_STRING = 0x03
const OBJECT_ID = 0x06
const BOOLEAN = 0x01
const OCTETS = 0x04

type Algorithm = {
  readonly type: KeyType
  readonly digest: string | null
  readonly pssSaltBytes?: number
}

/** The signature algorithms by the DER of their object ids in hex. */
const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d01010b', { type: 'RSA', digest: 'sha256' }],
  ['2a864886f70d01010c', { type: 'RSA', digest: 'sha384' }],
  ['2a864886f70d01010d', { type: 'RSA', digest: 'sha512' }],
  ['2a8648ce3d040302', { type: 'ECDSA', digest: 'sha256' }],
  ['2a8648ce3d040303', { type: 'ECDSA', digest: 'sha384' }],
  ['2a8648ce3d040304', { type: 'ECDSA', digest: 'sha512' }],
  ['2b6570', { type: 'Ed25519', digest: null }],
  // Go still accepts SHA-1 here, because the signature of a request only proves that the sender has
  // the key.
  ['2a864886f70d010105', { type: 'RSA', digest: 'sha1' }],
  ['2b0e03021d', { type: 'RSA', digest: 'sha1' }],
  ['2a8648ce3d0401', { type: 'ECDSA', digest: 'sha1' }],
])

/**
 * Maximum size of a request, 64 KiB of DER, which is enough for several of the longest keys and
 * hundreds of names.
 */
const DER_BYTES_MAX = 64 * 1024
/**
 * Maximum length of a PEM request in base64. The two encodings make it almost twice as long as the
 * DER; the rest is for text around the PEM block.
 */
export const REQUEST_CHARACTERS_MAX = 3 * DER_BYTES_MAX
const tooLong = `the request must not be longer than ${DER_BYTES_MAX} bytes`

const md5WithRsa = '2a864886f70d010104'

/**
 * Reads the PEM block that a CertificateSigningRequest contains in base64. If it is invalid, throws
 * a RequestError.
 */
export const readPemRequest = (base64: string): WholeRequest => readRequest(blockIn(base64))

function blockIn(base64: string): Buffer {
  if (base64.length > REQUEST_CHARACTERS_MAX) throw new RequestError(tooLong)
  const block = onlyBlock(base64)
  if (block?.label !== 'CERTIFICATE REQUEST')
    throw new RequestError('PEM block type must be CERTIFICATE REQUEST')
  return block.bytes
}

/**
 * Returns the PEM block if the text contains exactly one. Several blocks are rejected: this server
 * would check the subject of one block, and the signer could sign another.
 */
function onlyBlock(base64: string): PemBlock | undefined {
  const text = Buffer.from(base64, 'base64').toString('latin1')
  const [, ...begun] = text.split('-----BEGIN ')
  return begun.length === 1 ? decodePem(text)[0] : undefined
}

const extensionRequestId = '2a864886f70d01090e'
const alternativeNamesId = '551d11'

/** Whether a request contains names or addresses in addition to its subject. */
export const asksForNames = ({ names }: Pick<WholeRequest, 'names'>): boolean =>
  names.dns.length + names.emails.length + names.addresses.length + names.uris.length > 0

/**
 * Returns the value of the extension subjectAltName. As in Go, fails if an attribute or extension
 * occurs twice, or if an attribute has a second value. Otherwise the request could contain names
 * that the signer reads and the approver does not see.
 */
function alternativeNamesIn(attributes: DerReader): Buffer | undefined {
  let names: Buffer | undefined
  let isKnown = false
  while (!attributes.isAtEnd) {
    const attribute = attributes.sequence('Attribute')
    if (
      attribute.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex') !== extensionRequestId
    )
      continue
    if (isKnown)
      throw new RequestError('x509: certificate request contains duplicate requested extensions')
    isKnown = true
    const values = new DerReader(attribute.expect(SET, 'AttributeSet').content)
    names = alternativeNamesAmong(values.sequence('Extensions'))
    if (!values.isAtEnd || !attribute.isAtEnd)
      throw new RequestError('asn1: syntax error: trailing data')
  }
  return names
}

function alternativeNamesAmong(extensions: DerReader): Buffer | undefined {
  const values = new Map<string, Buffer>()
  while (!extensions.isAtEnd) {
    const extension = extensions.sequence('Extension')
    const id = extension.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
    if (values.has(id))
      throw new RequestError('x509: certificate request contains duplicate requested extensions')
    const next = extension.any()
    // A flag that says whether the extension is critical can precede the value.
    const value = next.tag === BOOLEAN ? extension.expect(OCTETS, 'OctetString') : next
    if (value.tag !== OCTETS || !extension.isAtEnd)
      throw new RequestError('x509: malformed extension')
    values.set(id, value.content)
  }
  return values.get(alternativeNamesId)
}

/** The context-specific tags of the types of alternative names. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const
/** The names that Go uses for these types. */
const nameTypes = {
  0x81: 'rfc822Name',
  0x82: 'dNSName',
  0x86: 'uniformResourceIdentifier',
} as const

/** Decodes the alternative names. `value` is undefined if the request has no alternative names. */
function readNames(value: Buffer | undefined): AlternativeNames {
  const names = {
    dns: [] as string[],
    emails: [] as string[],
    addresses: [] as Buffer[],
    uris: [] as string[],
  }
  if (value === undefined) return names
  const outer = new DerReader(value)
  const all = outer.sequence('GeneralNames')
  if (!outer.isAtEnd) throw new RequestError('x509: trailing data after X.509 extension')
  while (!all.isAtEnd) {
    const { tag, content } = all.any()
    if (tag === nameTags.address) {
      if (content.length !== 4 && content.length !== 16) {
        throw new RequestError(`x509: cannot parse IP address of length ${content.length}`)
      }
      names.addresses.push(content)
    } else if (tag === nameTags.dns || tag === nameTags.email || tag === nameTags.uri) {
      if (!isAscii(content)) throw new RequestError(`x509: SAN ${nameTypes[tag]} is malformed`)
      const list =
        tag === nameTags.dns ? names.dns : tag === nameTags.email ? names.emails : names.uris
      list.push(content.toString('latin1'))
    }
  }
  return names
}

/**
 * Parses a request in DER. Fails with a RequestError if the request is malformed, or if the
 * signature was not created with the key in the request.
 */
export const readRequest = (der: Buffer): WholeRequest =>
  faultsAsRequestError(() => readSigned(der))

function faultsAsRequestError<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof DerError) throw new RequestError(cause.message, { cause })
    throw cause
  }
}

function readSigned(der: Buffer): WholeRequest {
  if (der.length > DER_BYTES_MAX) throw new RequestError(tooLong)
  const outer = new DerReader(der)
  const request = outer.sequence('certificateRequest')
  if (!outer.isAtEnd) throw new RequestError('asn1: syntax error: trailing data')
  const info = request.expect(SEQUENCE, 'tbsCertificateRequest')
  const algorithm = request.sequence('AlgorithmIdentifier')
  const algorithmId = algorithm.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
  const signature = request.expect(BIT_STRING, 'BitString').content
  // The first byte is the number of unused bits, which must be 0 in a signature.
  if (signature[0] !== 0)
    throw new RequestError('asn1: syntax error: invalid padding bits in BIT STRING')
  const fields = new DerReader(info.content)
  fields.expect(INTEGER, 'int')
  const subject = readSubject(fields.any().content)
  const key = readRequestKey(fields.expect(SEQUENCE, 'publicKeyInfo').whole)
  const names = readNames(alternativeNamesIn(attributesAfter(fields)))
  const known = algorithmId === pssId ? readPss(algorithm) : algorithms.get(algorithmId)
  checkSignature(info.whole, signature.subarray(1), { key, algorithmId, algorithm: known })
  return { ...namesIn(subject), subject, publicKey: key.publicKey, names }
}

/** Returns the attributes, which may be absent. */
function attributesAfter(fields: DerReader): DerReader {
  const attributes = new DerReader(
    fields.isAtEnd ? Buffer.alloc(0) : fields.expect(ATTRIBUTES, 'RawValue').content,
  )
  if (!fields.isAtEnd) throw new RequestError('asn1: syntax error: trailing data')
  return attributes
}

type Signer = {
  readonly key: RequestKey
  readonly algorithmId: string
  /** The signature algorithm of the request. Undefined if Go does not support the algorithm. */
  readonly algorithm: Algorithm | undefined
}

function checkSignature(
  signed: Buffer,
  signature: Buffer,
  { key, algorithmId, algorithm: known }: Signer,
): void {
  const { type, publicKey } = key
  if (algorithmId === md5WithRsa)
    throw new RequestError('x509: cannot verify signature: insecure algorithm MD5-RSA')
  if (known === undefined)
    throw new RequestError('x509: cannot verify signature: algorithm unimplemented')
  if (known.type !== type) {
    const found = `have public key of type ${goTypes[type]}`
    throw new RequestError(
      `x509: signature algorithm specifies an ${known.type} public key, but ${found}`,
    )
  }
  const { digest, pssSaltBytes } = known
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const verifying =
    pssSaltBytes === undefined ? publicKey : { key: publicKey, padding, saltLength: pssSaltBytes }
  if (verify(digest, signed, verifying, signature)) return
  throw new RequestError(
    type === 'RSA' ? 'crypto/rsa: verification error' : `x509: ${type} verification failure`,
  )
}

/** Object id of RSASSA-PSS in hex. The digest is in the parameters (RFC 4055, section 3.1). */
const pssId = '2a864886f70d01010a'
const mgf1Id = '2a864886f70d010108'

const pssAlgorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['608648016503040201', { type: 'RSA', digest: 'sha256', pssSaltBytes: 32 }],
  ['608648016503040202', { type: 'RSA', digest: 'sha384', pssSaltBytes: 48 }],
  ['608648016503040203', { type: 'RSA', digest: 'sha512', pssSaltBytes: 64 }],
])

/**
 * Reads the parameters of RSASSA-PSS. As in Go, all digests in the parameters must be the same, and
 * the salt must be as long as the digest. Returns undefined for other parameters.
 */
function readPss(algorithm: DerReader): Algorithm | undefined {
  try {
    const parameters = algorithm.sequence('pssParameters')
    const digestId = digestIn(explicit(parameters, 0))
    const mask = explicit(parameters, 1).sequence('AlgorithmIdentifier')
    const isMgf1 = mask.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex') === mgf1Id
    const known = pssAlgorithms.get(digestId)
    if (!isMgf1 || digestIn(mask) !== digestId || known === undefined) return undefined
    const salt = explicit(parameters, 2).expect(INTEGER, 'int').content
    const isUsual = salt.length === 1 && salt[0] === known.pssSaltBytes
    return isUsual && (parameters.isAtEnd || isTrailer(parameters)) ? known : undefined
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

const explicit = (parameters: DerReader, number: number): DerReader =>
  new DerReader(parameters.expect(0xa0 | number, 'RawValue').content)

/**
 * Returns the object id of a digest, or an empty string if the digest has parameters other than
 * NULL.
 */
function digestIn(reader: DerReader): string {
  const digest = reader.sequence('AlgorithmIdentifier')
  const id = digest.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
  return digest.isAtEnd || (digest.any().whole.equals(nullBytes) && digest.isAtEnd) ? id : ''
}

const nullBytes = Buffer.from([0x05, 0x00])

/** Whether the parameters end with trailer field 1, which is the only one that RFC 4055 defines. */
const isTrailer = (parameters: DerReader): boolean => {
  const { content } = explicit(parameters, 3).expect(INTEGER, 'int')
  return content.length === 1 && content[0] === 1 && parameters.isAtEnd
}

const goTypes = {
  RSA: '*rsa.PublicKey',
  ECDSA: '*ecdsa.PublicKey',
  Ed25519: 'ed25519.PublicKey',
} as const

const commonNameId = '550403'
const organizationId = '55040a'

/**
 * The string types that all implementations decode in the same way. Signers may decode other types
 * differently, or ignore them.
 */
const textTags: ReadonlyMap<number, (content: Buffer) => boolean> = new Map([
  [0x0c, isUtf8],
  [0x13, isAscii],
  [0x16, isAscii],
])

function readSubject(content: Buffer): WholeRequest['subject'] {
  const parts: { readonly id: string; readonly text: string }[] = []
  for (const sets = new DerReader(content); !sets.isAtEnd; ) {
    for (const set = new DerReader(sets.any().content); !set.isAtEnd; ) {
      const part = set.sequence('AttributeTypeAndValue')
      const id = part.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
      const value = part.any()
      // Only the organization and the common name identify the user. Of all other attributes, drop
      // those that signers might decode differently.
      const isOfUser = id === organizationId || id === commonNameId
      if (isOfUser || isText(value)) parts.push({ id, text: textIn(value) })
    }
  }
  return parts
}

function namesIn(subject: WholeRequest['subject']): CertificateRequest {
  return {
    organizations: subject.flatMap(({ id, text }) => (id === organizationId ? [text] : [])),
    // If there are several common names, use the last one, as in Go.
    commonName: subject.findLast(({ id }) => id === commonNameId)?.text ?? '',
  }
}

const isText = ({ tag, content }: DerValue): boolean => textTags.get(tag)?.(content) === true

function textIn(value: DerValue): string {
  if (isText(value)) return value.content.toString('utf8')
  throw new RequestError(
    'the names of a subject must be of type UTF8String, PrintableString or IA5String',
  )
}
